package lint_test

import (
	"testing"

	"github.com/idem-spec/idem/internal/lint"
)

func TestNearWords(t *testing.T) {
	t.Parallel()
	known := []string{"payments", "orders", "qa", "NO_RATE"}
	for word, want := range map[string]string{
		"paymnts": "payments", "Orders": "orders", "no_rate": "NO_RATE", "NO_RATES": "NO_RATE", "mail": "", "x": "", "xx": "", "a": "qa", "": "",
	} {
		if got := lint.Near(word, known); got != want {
			t.Errorf("near %q is %q, want %q", word, got, want)
		}
	}
}
