package conformance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]answer{
		`{"type":"result","seq":1,"output":{"text":"1.5"}}`:                   {seq: 1, output: []byte(`{"text":"1.5"}`)},
		` { "output" : { } , "seq" : 12 , "type" : "result" } ` + "\r":        {seq: 12, output: []byte(`{ }`)},
		`{"type":"result","seq":3,"error":"DECIMAL_SYNTAX","detail":""}`:      {seq: 3, code: "DECIMAL_SYNTAX"},
		`{"detail":"why","type":"result","seq":3,"error":"X"}`:                {seq: 3, code: "X", detail: "why"},
		`{"type":"result","seq":3,"error":"X","detail":"\ud800\ud800\udc00"}`: {seq: 3, code: "X", detail: "\uFFFD\U00010000"},
		`{"type":"result","seq":4,"unsupported":true}`:                        {seq: 4, unsupported: true},
		`{"\u0074ype":"result","seq":4,"unsupported":true}`:                   {seq: 4, unsupported: true},
	} {
		got, err := parseAnswer([]byte(line))
		require.NoError(t, err, line)
		assert.Equal(t, want, got, line)
	}
}

func TestLinesThatAreNoAnswer(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		``:                                  "not a JSON object",
		`[]`:                                "not a JSON object",
		"\xef\xbb\xbf{}":                    "byte order mark",
		`{}`:                                "no type and seq",
		`{"type":"result","output":{}}`:     "no type and seq",
		`{"type":"result","seq":1}`:         "0 of output, error and unsupported",
		`{"type":"case","seq":1}`:           `the type "case"`,
		`{"type":"result","seq":1} x`:       "more text",
		`{"type":"result","type":"result"}`: "two members",
		`{"type":"result","seq":1,"output":{},"error":"X"}`:     "2 of output",
		`{"type":"result","seq":1,"output":{},"detail":"X"}`:    "a detail without an error",
		`{"type":"result","seq":1,"output":null}`:               "no object",
		`{"type":"result","seq":1,"output":"1.5"}`:              "no object",
		`{"type":"result","seq":1,"error":""}`:                  "empty error code",
		`{"type":"result","seq":1,"error":null}`:                "no string",
		`{"type":"result","seq":1,"unsupported":false}`:         "true or not there",
		`{"type":"result","seq":"1","output":{}}`:               "seq that is no number",
		`{"type":"result","seq":1.0,"output":{}}`:               "the seq 1.0",
		`{"type":"result","seq":1e0,"output":{}}`:               "the seq 1e0",
		`{"type":"result","seq":-0,"output":{}}`:                "the seq -0",
		`{"type":"result","seq":99999999999999999999,"a":1}`:    "the seq 9999",
		`{"type":"result","seq":1,"output":{},"Error":"X"}`:     `member "Error"`,
		`{"type":"result","seq":1,"output":{"a":"` + "\xff\"}}": "ill-formed UTF-8",
	} {
		_, err := parseAnswer([]byte(line))
		assert.ErrorContains(t, err, want, line)
	}
}

func BenchmarkParseAnswer(b *testing.B) {
	line := []byte(`{"type":"result","seq":1234,"output":{"delay_ms":"2017","base_ms":"2000","jitter_ms":"17"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseAnswer(line); err != nil {
			b.Fatal(err)
		}
	}
}
