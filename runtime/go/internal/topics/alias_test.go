package topics

import (
	"strings"
	"testing"
)

func TestAlias(t *testing.T) {
	t.Parallel()
	a, err := NewAlias(map[string]string{
		"orders": "orders-2", "orders-2": "orders-3", "refunds.retry.payments": "refunds-retries",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ topic, plain, retry string }{
		{"orders", "orders-3", "orders-3"},
		{"orders.retry.payments", "orders.retry.payments", "orders-3.retry.payments"},
		{"orders-2.retry.payments", "orders-2.retry.payments", "orders-3.retry.payments"},
		{"orders.retry.billing", "orders.retry.billing", "orders.retry.billing"}, // another scope's
		{"refunds.retry.payments", "refunds-retries", "refunds-retries"},
		{"other.retry.payments", "other.retry.payments", "other.retry.payments"},
	} {
		if got := a.Of(c.topic); got != c.plain {
			t.Errorf("%s goes to %s, want %s", c.topic, got, c.plain)
		}
		if got := a.OfRetry(c.topic, "payments"); got != c.retry {
			t.Errorf("retries of %s go to %s, want %s", c.topic, got, c.retry)
		}
	}
	if got := Alias(nil).OfRetry("x.retry.s", "s"); got != "x.retry.s" {
		t.Errorf("no alias: %s", got)
	}
}

func TestAliasRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names map[string]string
		word  string
	}{
		{map[string]string{"a": "b", "b": "a"}, "circle"},
		{map[string]string{"a": "a"}, "circle"},
		{map[string]string{"a": "b", "b": "c", "c": "b"}, "circle"},
		{map[string]string{"": "b"}, "no name"},
		{map[string]string{"a": "b c"}, "byte 1"},
	} {
		if _, err := NewAlias(c.names); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%v: %v, want %q", c.names, err, c.word)
		}
	}
}
