package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJSONThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "{", "}", "[1,]", "[,1]", `{"a":1,}`, `{a:1}`, `{"a" 1}`, `{"a":}`, "01", "1.", ".5", "-", "+1", "1e", "1e+",
		"NaN", "tru", "nul", "'a'", `"`, `"\`, `"\x"`, `"\u12"`, `"\u00zz"`, `"\ud800"`, `"\ud800\u0041"`, `"\udc00"`,
		"\"\x01\"", "\"\n\"", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "1 2", `{} {}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`,
		strings.Repeat("[", 100) + strings.Repeat("]", 100), strings.Repeat("[", 1<<20), "\xef\xbb\xbf1", "1\x00", "/**/1",
	} {
		_, err := parseJSON([]byte(text))
		assert.Error(t, err, "%.40q", text)
		if !strings.HasPrefix(text, `{"a":1,`) {
			s := scanner{data: []byte(text)}
			if _, err = s.skip(0); err == nil {
				err = s.end()
			}
			assert.Error(t, err, "skip %.40q", text)
		}
	}
}

// What an answer is compared by (CONF-051).
func TestJSONEquality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":"1","b":[true,null]}`, " { \"b\" : [ true , null ] , \"a\" : \"1\" } \r", true},
		{`"é"`, `"\u00e9"`, true},
		{`"😀"`, `"\ud83d\ude00"`, true},
		{`"\/"`, `"/"`, true},
		{`"e\u0301"`, `"é"`, false},
		{`"1"`, `1`, false},
		{`null`, `false`, false},
		{`"true"`, `true`, false},
		{`[]`, `{}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1}`, `{"A":1}`, false},
		{`9007199254740993`, `9007199254740992`, false},
		{`18446744073709551615`, `18446744073709551615.0`, true},
		{`1e2`, `100`, true},
		{`0.10`, `1E-1`, true},
		{`-0`, `0`, true},
		{`0e9`, `0.00`, true},
		{`1e99999999999`, `1e99999999999`, true},
		{`1e99999999999`, `1e99999999998`, false},
		{`-1`, `1`, false},
	} {
		a, err := parseJSON([]byte(c.a))
		require.NoError(t, err)
		b, err := parseJSON([]byte(c.b))
		require.NoError(t, err)
		assert.Equal(t, c.same, a.equal(b), "%s and %s", c.a, c.b)
		assert.Equal(t, c.same, b.equal(a), "%s and %s", c.b, c.a)
	}
}

func TestCanonicalJSON(t *testing.T) {
	t.Parallel()
	v, err := parseJSON([]byte(`{ "b": [1, {"z":null,"a":false}], "a": "\u0001\n\"\\\/\u007f\u00e9😀" }`))
	require.NoError(t, err)
	assert.Equal(t, `{"a":"\u0001\n\"\\/`+"\x7f"+`é😀","b":[1,{"a":false,"z":null}]}`, string(v.appendCanonical(nil)))
	assert.Equal(t, `"\b\f\n\r\t\u001f"`, string(appendString(nil, "\b\f\n\r\t\x1f")))
}

func TestCompactJSONKeepsStringsAsTheyAre(t *testing.T) {
	t.Parallel()
	got := appendCompact(nil, []byte("{ \"a b\" : \" \\\" \\u00e9 \\\\\" ,\n\"c\":[ 1 ] }"))
	assert.Equal(t, `{"a b":" \" \u00e9 \\","c":[1]}`, string(got))
}

// FuzzJSON holds the reader against encoding/json, which accepts more.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e+3,"\u00e9\n",null,true]}`, `"\ud83d\ude00"`, `[[]]`, `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parseJSON(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepts %q", data)
		}
		canonical := v.appendCanonical(nil)
		again, err := parseJSON(canonical)
		if err != nil || !again.equal(v) || !v.equal(again) {
			t.Fatalf("%q becomes %q: %v", data, canonical, err)
		}
		s := scanner{data: data}
		if _, err := s.skip(0); err != nil {
			t.Fatalf("skip refuses %q: %v", data, err)
		}
		compact := appendCompact(nil, data)
		if same, err := parseJSON(compact); err != nil || !same.equal(v) {
			t.Fatalf("%q compacts to %q", data, compact)
		}
	})
}
