package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestStringsAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"plain"`: "plain", `"ü"`: "ü", `"\u00fc\n\/\\\""`: "ü\n/\\\"", `"\ud83d\ude00!"`: "😀!", `"a\tb"`: "a\tb", `""`: "",
	} {
		s := Scanner{In: []byte(text)}
		got, ok := s.String()
		require.True(t, ok, text)
		require.Equal(t, want, string(got))
		require.Equal(t, len(text), s.Pos)
	}
	for _, text := range []string{`"open`, `"\x"`, `"\u12"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\u0041"`, "\"\n\"", "\"\xff\"", `x`, ``} {
		s := Scanner{In: []byte(text)}
		_, ok := s.String()
		require.False(t, ok, text)
	}
}

func TestSkipSaysWhatIsNoJSONThoughItLooksLikeSome(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		fault Fault
		at    int
	}{
		`{"a":NaN}`:               {NotFinite, 5},
		`[-Infinity]`:             {NotFinite, 2},
		"[\"ab\xff\"]":            {IllFormed, 4},
		"[\"\\n\xff\"]":           {IllFormed, 4},
		`["a\ud83d"]`:             {Surrogate, 3},
		`["a\ude00\u0041"]`:       {Surrogate, 3},
		strings.Repeat("[", 1200): {TooDeep, 1001},
		`{"a":1,}`:                {"", 7},
	} {
		s := Scanner{In: []byte(text)}
		require.False(t, s.Skip(), text)
		require.Equal(t, want.fault, s.Fault, text)
		require.Equal(t, want.at, s.Pos, text)
	}
}

func TestNumbersAreJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "-0", "17", "1.50", "1e3", "-1.5E-07"} {
		require.True(t, IsNumber([]byte(text)), text)
	}
	for _, text := range []string{"", "-", "01", "1.", ".5", "1e", "+1", "1x", "0x1", "1 ", "NaN"} {
		require.False(t, IsNumber([]byte(text)), text)
	}
}

// FuzzSkip compares with encoding/json, which replaces ill-formed text, where this refuses it.
func FuzzSkip(f *testing.F) {
	for _, text := range []string{`{"a":[1,true,null,"x",{}]}`, `[[]]`, `{"a" : 1 , "b":2}`, `{"a":1,}`, `[1 2]`, `tru`, `"\ud800"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Scanner{In: []byte(text)}
		s.Blanks()
		ok := s.Skip()
		s.Blanks()
		ok = ok && s.Pos == len(text)
		strict := !utf8.ValidString(text) || strings.Contains(strings.ToLower(text), `\ud`) || strings.Count(text, "[")+strings.Count(text, "{") > maxDepth
		if valid := json.Valid([]byte(text)); ok != valid && !(valid && strict) {
			t.Fatalf("%q: %v, and encoding/json says %v", text, ok, valid)
		}
	})
}
