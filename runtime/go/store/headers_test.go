package store_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

func TestHeadersAreTextThatAnOperatorReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		headers idem.Headers
		text    string
	}{
		{"none", nil, `[]`},
		{"in order, a name twice", idem.Headers{{Name: "b", Value: []byte("1")}, {Name: "a", Value: []byte("2")}, {Name: "b", Value: []byte("3")}},
			`[["b","1"],["a","2"],["b","3"]]`},
		{"null and empty differ", idem.Headers{{Name: "n"}, {Name: "e", Value: []byte{}}}, `[["n",null],["e",""]]`},
		{"not UTF-8", idem.Headers{{Name: "x", Value: []byte{0xff, 0}}}, `[["x",{"base64":"/wA="}]]`},
		{"a NUL behind a letter that is not ASCII", idem.Headers{{Name: "x", Value: []byte("é\x00")}}, `[["x",{"base64":"w6kA"}]]`},
		{"a name that is no text", idem.Headers{{Name: "\x00", Value: []byte("v")}}, `[[{"base64":"AA=="},"v"]]`},
		{"escapes", idem.Headers{{Name: `"\`, Value: []byte("a\nb/é")}}, `[["\"\\","a\u000ab/é"]]`},
		{"an integer of AMQP", idem.Headers{{Name: "n", Value: []byte("-7"), Integer: true}}, `[["n",{"integer":"-7"}]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if text := store.EncodeHeaders(c.headers); text != c.text {
				t.Errorf("EncodeHeaders = %s, want %s", text, c.text)
			}
			headers, err := store.DecodeHeaders(c.text)
			if err != nil || !slices.EqualFunc(headers, c.headers, sameHeader) {
				t.Errorf("DecodeHeaders(%s) = %+v, %v", c.text, headers, err)
			}
		})
	}
}

func TestDecodeHeadersReadsWhatOtherLanguagesWrite(t *testing.T) {
	t.Parallel()
	text := ` [ [ "k\u00e9\ud83d\ude00" , "\b\f\n\r\t\/" ] , [ "n" , null ], ["b", { "base64" : "" }] ] `
	want := idem.Headers{{Name: "ké😀", Value: []byte("\b\f\n\r\t/")}, {Name: "n"}, {Name: "b", Value: []byte{}}}
	headers, err := store.DecodeHeaders(text)
	if err != nil || !slices.EqualFunc(headers, want, sameHeader) {
		t.Errorf("DecodeHeaders = %+v, %v, want %+v", headers, err, want)
	}
}

func TestDecodeHeadersRefusesWhatIsNotItsShape(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": ``, "null": `null`, "an object": `{}`, "no end": `[`, "a comma at the end": `[["a","b"],]`, "a triple": `[["a","b","c"]]`,
		"one alone": `[["a"]]`, "a null name": `[[null,"b"]]`, "a number": `[["a",1]]`, "true": `[["a",true]]`, "two arrays": `[][]`,
		"an unknown form": `[["a",{"hex":"00"}]]`, "bad base64": `[["a",{"base64":"a"}]]`, "loose base64": `[["a",{"base64":"AB=="}]]`,
		"an integer that is none": `[["a",{"integer":"x"}]]`, "an integer name": `[[{"integer":"1"},"x"]]`, "a raw newline": "[[\"a\",\"\n\"]]",
		"half a pair": `[["a","\ud83d"]]`, "a low half first": `[["a","\ude00\ud83d"]]`, "a bad escape": `[["a","\x41"]]`,
		"a signed escape": `[["a","\u+041"]]`, "a short escape": `[["a","\u12`, "not UTF-8": "[[\"a\",\"\xff\"]]", "no end of a string": `[["a","`,
		"an escape at the end": `[["a","\`, "no end of a form": `[["a",{"base64":""]]`,
	} {
		if headers, err := store.DecodeHeaders(text); err == nil || !strings.HasPrefix(err.Error(), "decode headers: byte ") {
			t.Errorf("%s: DecodeHeaders(%+v) = %+v, %v", name, text, headers, err)
		}
	}
}

func TestHeadersComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		headers := idem.Headers(rapid.SliceOf(rapid.Custom(func(t *rapid.T) idem.Header {
			h := idem.Header{Name: rapid.String().Draw(t, "name")}
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				h.Value = rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
			case 1:
				h.Value = []byte(rapid.String().Draw(t, "text"))
			case 2:
				h.Value, h.Integer = []byte(rapid.StringMatching(`-?[0-9]{1,19}`).Draw(t, "integer")), true
			case 3:
				h.Name = string(rapid.SliceOf(rapid.Byte()).Draw(t, "raw name"))
			}
			return h
		})).Draw(t, "headers"))
		text := store.EncodeHeaders(headers)
		if !json.Valid([]byte(text)) || strings.ContainsRune(text, 0) {
			t.Fatalf("%q is no JSON that a column of text holds", text)
		}
		back, err := store.DecodeHeaders(text)
		if err != nil || !slices.EqualFunc(back, headers, sameHeader) {
			t.Fatalf("%+v -> %s -> %+v, %v", headers, text, back, err)
		}
	})
}

// FuzzDecodeHeaders has what can be read written and read again, and all of it be JSON to others too.
func FuzzDecodeHeaders(f *testing.F) {
	f.Add(`[["a","b"],["n",null],["x",{"base64":"/wA="}],["i",{"integer":"7"}]]`)
	f.Add(` [ [ "\u00e9\ud83d\ude00" , "\n" ] ] `)
	f.Fuzz(func(t *testing.T, text string) {
		headers, err := store.DecodeHeaders(text)
		if err != nil {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("%q was read, and is no JSON", text)
		}
		back, err := store.DecodeHeaders(store.EncodeHeaders(headers))
		if err != nil || !slices.EqualFunc(back, headers, sameHeader) {
			t.Fatalf("%+v -> %+v -> %+v, %v", text, headers, back, err)
		}
	})
}

func sameHeader(a, b idem.Header) bool {
	return a.Name == b.Name && string(a.Value) == string(b.Value) && (a.Value == nil) == (b.Value == nil) && a.Integer == b.Integer
}
