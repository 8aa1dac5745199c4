package idem_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/idem-spec/idem/runtime/go/idem"
)

func TestErrorIsASentence(t *testing.T) {
	t.Parallel()
	_, err := idem.AppendDecimal(nil, "1..2", -1)
	err = idem.InField(err, "order.amount")
	const w = `idem: order.amount: DECIMAL_SYNTAX: no part of a decimal number: byte 2 of "1..2"`
	if err.Error() != w {
		t.Errorf("got %s, want %s", err, w)
	}
	if got := idem.InField(err, "other"); got != err {
		t.Errorf("a field that is named was renamed: %v", got)
	}
}

func TestErrorShowsAtMost64BytesAroundTheFault(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"fault at the start": "\xff" + strings.Repeat("é", 100),
		"fault in the midst": strings.Repeat("é", 100) + "\xff" + strings.Repeat("é", 100),
		"fault at the end":   strings.Repeat("é", 100) + "\xff",
		"short":              "é\xff",
	} {
		_, err := idem.AppendString(nil, in)
		e, ok := err.(*idem.Error)
		if !ok {
			t.Fatalf("%s: got %v", name, err)
		}
		if !strings.Contains(e.Value, `\xff`) {
			t.Errorf("%s: %s does not show the fault", name, e.Value)
		}
		if len(e.Value) > 64+len(`""……\xff`) || !utf8.ValidString(e.Value) || strings.Count(e.Value, `\x`) != 1 {
			t.Errorf("%s: %d bytes %s", name, len(e.Value), e.Value)
		}
	}
}

func TestRedactedErrorShowsNothingOfTheValue(t *testing.T) {
	t.Parallel()
	_, err := idem.AppendDecimal(nil, "secret", 2)
	err = idem.Redacted(idem.InField(err, "card"))
	if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "card") {
		t.Errorf("got %v", err)
	}
	if idem.CodeOf(err) != idem.CodeDecimalSyntax {
		t.Errorf("the code is gone: %v", err)
	}
}

func TestCodeIsFoundInAChain(t *testing.T) {
	t.Parallel()
	if code := idem.CodeOf(fmt.Errorf("send: %w", idem.Missing("id"))); code != idem.CodeKeyComponentMissing {
		t.Errorf("got %q", code)
	}
	other := errors.New("other")
	if idem.CodeOf(other) != "" || idem.CodeOf(nil) != "" || idem.InField(other, "f") != other || idem.Redacted(other) != other {
		t.Error("an error of someone else was taken for one of ours")
	}
}
