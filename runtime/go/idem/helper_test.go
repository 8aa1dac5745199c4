package idem_test

import (
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// text is what an append function appends, behind bytes that it must not touch. After an error those
// are all that is left.
func text(t *testing.T, appendTo func(dst []byte) ([]byte, error)) (string, idem.Code) {
	t.Helper()
	const before = "before:"
	got, err := appendTo([]byte(before))
	if len(got) < len(before) || string(got[:len(before)]) != before {
		t.Fatalf("the bytes before were changed: %q", got)
	}
	if err != nil && len(got) != len(before) {
		t.Fatalf("after the error %v there is %q", err, got)
	}
	return string(got[len(before):]), idem.CodeOf(err)
}

// want compares a text and a code with what a table says: the code where there is one.
func want(t *testing.T, got string, gotCode idem.Code, text string, code idem.Code) {
	t.Helper()
	if gotCode != code {
		t.Fatalf("got %q with code %q, want code %q", got, gotCode, code)
	}
	if code == "" && got != text {
		t.Fatalf("got %q, want %q", got, text)
	}
}

// withoutAllocation checks that f does not allocate.
func withoutAllocation(t *testing.T, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(100, f); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}
