package idem_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
)

const someUUID = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"

func TestUUIDIsLowered(t *testing.T) {
	t.Parallel()
	for _, in := range []string{someUUID, strings.ToUpper(someUUID), "F81d4Fae-7dec-11d0-a765-00a0c91e6BF6"} {
		got, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendUUID(dst, in) })
		want(t, got, code, someUUID, "")
	}
}

func TestUUIDRefusals(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"empty":          "",
		"braces":         "{" + someUUID + "}",
		"urn":            "urn:uuid:" + someUUID,
		"bare digits":    strings.ReplaceAll(someUUID, "-", ""),
		"dash misplaced": "f81d4fa-e7dec-11d0-a765-00a0c91e6bf6",
		"no hex digit":   "g81d4fae-7dec-11d0-a765-00a0c91e6bf6",
		"digit for dash": "f81d4fae07dec-11d0-a765-00a0c91e6bf6",
		"blank":          someUUID[:35] + " ",
		"one more":       someUUID + "0",
	} {
		if _, code := text(t, func(dst []byte) ([]byte, error) { return idem.AppendUUID(dst, in) }); code != idem.CodeUUIDSyntax {
			t.Errorf("%s: got code %q", name, code)
		}
	}
}

func FuzzUUID(f *testing.F) {
	f.Add(someUUID)
	f.Add("{" + someUUID + "}")
	shape := regexp.MustCompile(`\A[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\z`)
	f.Fuzz(func(t *testing.T, in string) {
		got, err := idem.AppendUUID(nil, in)
		if shape.MatchString(in) != (err == nil) {
			t.Fatalf("%q: %v", in, err)
		}
		if err == nil && string(got) != strings.ToLower(in) {
			t.Fatalf("%q: got %q", in, got)
		}
	})
}
