package broker

import (
	"strings"
	"testing"
)

// RETRY-030
func TestTopicNames(t *testing.T) {
	t.Parallel()
	if got, want := RetryTopic("orders", "payments"), "orders.retry.payments"; got != want {
		t.Errorf("retry topic %q, want %q", got, want)
	}
	if got, want := DeadLetterTopic("orders", "payments"), "orders.dlq.payments"; got != want {
		t.Errorf("dead-letter topic %q, want %q", got, want)
	}
	for _, c := range []struct {
		topic, origin string
		ok            bool
	}{
		{"orders.retry.payments", "orders", true},
		{"a.retry.b.retry.payments", "a.retry.b", true},
		{"orders.retry.other", "", false},
		{".retry.payments", "", false},
		{"orders", "", false},
	} {
		origin, ok := OriginOf(c.topic, "payments")
		if ok != c.ok || ok && origin != c.origin {
			t.Errorf("%q: origin %q %v, want %q %v", c.topic, origin, ok, c.origin, c.ok)
		}
	}
}

func TestCheckTopic(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]string{
		"orders.retry.payments_2-x": "",
		strings.Repeat("a", 249):    "",
		strings.Repeat("a", 250):    "250 bytes, more than 249",
		"":                          "no name",
		"..":                        "taken",
		"a b":                       `byte 1 is ' '`,
		"é":                         "byte 0",
	} {
		err := CheckTopic(name)
		if fault == "" && err != nil || fault != "" && (err == nil || !strings.Contains(err.Error(), fault)) {
			t.Errorf("%q: %v, want %q", name, err, fault)
		}
	}
}
