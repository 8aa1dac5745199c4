package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

// ask serves one case and returns its answer without detail and seq.
func ask(t *testing.T, op, input string) string {
	t.Helper()
	var out bytes.Buffer
	if err := serve(strings.NewReader(`{"type":"case","seq":7,"op":"`+op+`","input":`+input+`}`), &out); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Type        string          `json:"type"`
		Seq         int             `json:"seq"`
		Output      json.RawMessage `json:"output"`
		Error       string          `json:"error"`
		Unsupported bool            `json:"unsupported"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || answer.Type != "result" || answer.Seq != 7 {
		t.Fatalf("%s: %v", out.Bytes(), err)
	}
	if answer.Unsupported {
		return "unsupported"
	}
	return string(answer.Output) + answer.Error
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const policy = `"policy":{"backoff_base":"1","backoff_max":"60","backoff_jitter":"20"}`
	for _, c := range []struct{ op, input, answer string }{
		{"decimal", `{"text":"1.50"}`, `{"text":"1.5"}`},
		{"decimal", `{"hex":"312e"}`, `{"text":"1"}`},
		{"decimal", `{"text":"1.505","max_scale":"2"}`, "DECIMAL_SCALE"},
		{"money", `{"currency_code":"USD","units":"9223372036854775808","nanos":"0"}`, "MONEY_RANGE"},
		{"money", `{"currency_code":"usd","units":"9223372036854775808","nanos":"0"}`, "MONEY_CURRENCY"},
		{"timestamp", `{"epoch":"18446744073709551615","unit":"ns","fraction_digits":"0"}`, `{"text":"2554-07-21T23:34:33Z"}`},
		{"timestamp", `{"epoch":"18446744073709551616","unit":"ns","fraction_digits":"0"}`, "INT_RANGE"},
		{"timestamp", `{"epoch":"-9223372036854775809","unit":"ns","fraction_digits":"0"}`, "INT_RANGE"},
		{"component", `{"utf16":["d83d","de00"]}`, `{"text":"%F0%9F%98%80"}`},
		{"component", `{"utf16":["de00","d83d"]}`, "STRING_UTF8"},
		{"component", `{"string":"\ud83d"}`, "STRING_UTF8"},
		{"component", `{"string":"\ud83d\ude00"}`, `{"text":"%F0%9F%98%80"}`},
		{"component", `{"int":{"type":"fixed32","value":"4294967295"}}`, `{"text":"4294967295"}`},
		{"component", `{"int":{"type":"fixed32","value":"-1"}}`, "INT_RANGE"},
		{"component", `{"bytes":"` + strings.Repeat("ab", 2000) + `"}`, `{"text":"` + strings.Repeat("ab", 2000) + `"}`},
		{"component", `{"string":"` + strings.Repeat("é", 2000) + `"}`, `{"text":"` + strings.Repeat("%C3%A9", 2000) + `"}`},
		{"component", `{"sha256":{"string":"a"}}`, `{"text":"ca978112ca1bbdcafac231b39a23dc4d"}`},
		{"component", `{"sha256":{"absent":true}}`, `{"text":"~"}`},
		{"key", `{"segments":[{"literal":"t"},{"component":{"string":"a:b"}}]}`, `{"key":"t:a%3Ab"}`},
		{"shard", `{"hash":"8000000000000000","n":"10"}`, `{"shard":"8"}`},
		{"shard", `{"key":"","n":"99999999999999999999999999999999"}`, "PARTITION_COUNT"},
		{"backoff", `{"key":"order-8317","retry_count":"1",` + policy + `}`, `{"delay_ms":"2017","base_ms":"2000","jitter_ms":"17"}`},
		{"backoff", `{"key":"k","retry_count":"2147483648",` + policy + `}`, "POLICY_RANGE"},
		{"transition", `{"transitions":[{"from":"","to":"A"}],"current":"","from":"","to":"A"}`, `{"verdict":"APPLY"}`},
		{"headers", `{"transport":"kafka","headers":[["x",null],["topic",{"hex":"ff"}],["biz_key",{"utf8":"b"}]]}`,
			`{"envelope":{"biz_key":"b"},"unknown":[["x",null]],"warnings":["topic"]}`},
		{"classify", `{"http":"503"}`, `{"class":"THROTTLED"}`},
		{"nonsense", `{}`, "unsupported"},
	} {
		if got := ask(t, c.op, c.input); got != c.answer {
			t.Errorf("%s %.80s: got %.200s, want %.200s", c.op, c.input, got, c.answer)
		}
	}
}

func TestInputsOfNoKnownShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ op, input string }{
		{"decimal", `null`},
		{"decimal", `[]`},
		{"decimal", `{}`},
		{"decimal", `{"text":1}`},
		{"decimal", `{"Text":"1"}`},
		{"decimal", `{"text":"1","hex":"31"}`},
		{"decimal", `{"text":"1","text":"1"}`},
		{"decimal", `{"text":"1","more":null}`},
		{"decimal", `{"text":"1","max_scale":"256"}`},
		{"decimal", `{"text":"x","max_scale":2}`},
		{"decimal", `{"hex":"3"}`},
		{"decimal", `{"hex":"3A"}`},
		{"date", `{"year":"2025","month":"01","day":"1"}`},
		{"date", `{"year":"+2025","month":"1","day":"1"}`},
		{"date", `{"year":"2025","month":"-0","day":"1"}`},
		{"timestamp", `{"epoch":"1","fraction_digits":"3"}`},
		{"timestamp", `{"epoch":"1","unit":"m","fraction_digits":"3"}`},
		{"timestamp", `{"rfc3339":"","fraction_digits":"10"}`},
		{"component", `{"string":"a","bytes":""}`},
		{"component", `{"absent":false}`},
		{"component", `{"sha256":{"sha256":{"string":"a"}}}`},
		{"component", `{"int":{"type":"double","value":"1"}}`},
		{"key", `{"segments":[]}`},
		{"key", `{"segments":[{"component":{"missing":true}},{"literal":""}]}`},
		{"shard", `{"key":"a","hash":"0000000000000000","n":"1"}`},
		{"shard", `{"hash":"00","n":"1"}`},
		{"backoff", `{"key":"k","retry_count":"0","policy":{"backoff_base":"1","backoff_max":"60"}}`},
		{"admit", `{"record":{},"delivery":{"redrive_count":"0","position":"0"},"now_ms":"0","lease_ms":"1","max_attempts":"1","owner":""}`},
		{"headers", `{"transport":"kafka","headers":[["retry_count",{"int":"1"}]]}`},
		{"headers", `{"transport":"smoke","headers":[]}`},
		{"classify", `{"kafka":"32768"}`},
		{"classify", `{"smoke":"1"}`},
	} {
		if got := ask(t, c.op, c.input); got != "INPUT_INVALID" {
			t.Errorf("%s %s: got %s", c.op, c.input, got)
		}
	}
}

func TestLinesThatEndThePort(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "x", "[]", "null", `"a"`, `{"type":"case"`, `{"type":"case",}`, "\ufeff{}", `{"type":"hello"} x`, `{"type":"greeting"}`,
		`{"type":"case","op":"decimal","input":{}}`, `{"type":"a` + "\x01" + `"}`, strings.Repeat("[", 1<<20),
	} {
		if err := serve(strings.NewReader(line+"\n"), io.Discard); err == nil {
			t.Errorf("%.40q is taken", line)
		}
	}
	for name, input := range map[string]string{
		"end":          `{"type":"end"}` + "\nnot read",
		"end of input": "",
		"no line feed": `{"type":"hello","protocol":"idem-conformance/1"}`,
	} {
		if err := serve(strings.NewReader(input), io.Discard); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 3*bufferSize)
	if got := ask(t, "decimal", `{"text":"`+long+`"}`); got != "DECIMAL_RANGE" {
		t.Errorf("got %.80s", got)
	}
}

// A runner waits for the answer to what it has sent, also when half a line follows.
func TestAnswersAreFlushedWhenNoLineWaits(t *testing.T) {
	t.Parallel()
	in, toPort := io.Pipe()
	fromPort, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- serve(in, out) }()
	line := `{"type":"case","seq":1,"op":"uuid","input":{"text":""}}` + "\n"
	go func() { _, _ = io.WriteString(toPort, line+line[:10]) }()
	answer := make([]byte, 1)
	read := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(fromPort, answer)
		read <- err
	}()
	select {
	case err := <-read:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no answer")
	}
	go func() { _, _ = io.Copy(io.Discard, fromPort) }()
	_, _ = io.WriteString(toPort, line[10:])
	_ = toPort.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// FuzzJSON compares with the platform's decoder, which is as strict in all but surrogates and ill-formed
// UTF-8.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"\u00e9\\\n"],"b":{"c":null}}`, `[true,false]`, `01`, `"\ud83d\ude00"`, `{"a":1,}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := parseJSON(s)
		if strings.Count(s, "[")+strings.Count(s, "{") > maxDepth {
			return
		}
		if json.Valid([]byte(s)) != (err == nil) {
			t.Fatalf("%q: %v", s, err)
		}
		var text string
		if err == nil && v.kind == kindString && json.Unmarshal([]byte(s), &text) == nil && !strings.ContainsRune(text, '\ufffd') && text != v.text {
			t.Fatalf("%q: got %q, want %q", s, v.text, text)
		}
		if err == nil && v.kind == kindString {
			back, err := parseJSON(string(appendJSONString(nil, strings.ToValidUTF8(v.text, "\ufffd"))))
			if err != nil || back.text != strings.ToValidUTF8(v.text, "\ufffd") {
				t.Fatalf("%q: %q, %v", s, back.text, err)
			}
		}
	})
}

func BenchmarkPort(b *testing.B) {
	line := `{"type":"case","seq":1,"op":"key","input":{"segments":[{"literal":"payments.paid"},{"component":{"string":"o/17"}},{"component":{"decimal":{"text":"100.00"}}}]}}` + "\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	if err := serve(io.LimitReader(&repeated{line: line}, int64(b.N*len(line))), io.Discard); err != nil {
		b.Fatal(err)
	}
}

// repeated is one line for ever.
type repeated struct {
	line string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.line[r.at:])
	r.at = (r.at + n) % len(r.line)
	return n, nil
}
