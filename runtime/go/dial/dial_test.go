package dial

import (
	"strings"
	"testing"
)

// A URL that cannot be used is an error that says what can be, and never a password.
func TestWhatCannotBeDialledIsNamedWithoutTheSecret(t *testing.T) {
	t.Parallel()
	file := "sqlite:" + t.TempDir() + "/idem.db"
	for _, c := range []struct{ store, broker, says string }{
		{"host=h user=u password=secret", "memory:", "has no scheme"},
		{"secret", "memory:", "has no scheme"},
		{"postgresql//u:secret@h", "memory:", "has no scheme"},
		{"mysql://u:secret@h", "memory:", `"mysql"`},
		{"postgres://u:secret@h:port/db", "memory:", "invalid port"},
		{"postgres://u:secret@h/db?sslmode=never", "memory:", "sslmode"},
		{file, "kafka://u:secret@h:9092", "SASL"},
		{file, "u=secret", "has no scheme"},
		{file, "kafka://h", `"h"`},
		{file, "amqp://u:secret@h", `"amqp"`},
	} {
		s, err := Open(t.Context(), c.store, c.broker)
		if err == nil {
			t.Errorf("%s and %s: %v", c.store, c.broker, s)
			continue
		}
		if text := err.Error(); !strings.Contains(text, c.says) || strings.Contains(text, "secret") {
			t.Errorf("%s and %s: %v", c.store, c.broker, err)
		}
	}
	if b, err := Broker("kafka://h"); err == nil || b != nil {
		t.Errorf("%v, %v", b, err)
	}
}
