package input

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// got is what a reader gave.
type got struct {
	name    string
	number  int64
	payload string
}

// drain reads all messages.
func drain(t *testing.T, r Reader) ([]got, error) {
	t.Helper()
	var all []got
	var b Batch
	var p Parser
	var m Message
	for {
		err := r.Read(t.Context(), &b)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		for i := range b.Items {
			if err := b.Parse(&p, &b.Items[i], &m); err != nil {
				return all, err
			}
			all = append(all, got{b.Source.Name, m.Number, string(m.Payload)})
		}
	}
}

func delimitedBytes(messages ...string) []byte {
	var all []byte
	for _, m := range messages {
		all = append(binary.AppendUvarint(all, uint64(len(m))), m...)
	}
	return all
}

func written(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestDelimitedMessagesOfAnySizeComeWholeAndInOrder(t *testing.T) {
	t.Parallel()
	var messages []string
	for i := range 3000 {
		messages = append(messages, strings.Repeat(string(rune('a'+i%26)), i%400))
	}
	messages = append(messages, strings.Repeat("x", 3*batchLen), "", "end")
	for _, in := range []io.Reader{bytes.NewReader(delimitedBytes(messages...)), iotest.OneByteReader(bytes.NewReader(delimitedBytes(messages...)))} {
		r, err := Files([]string{"-"}, in, Options{Delimited: true, MaxMessage: 1 << 20})
		require.NoError(t, err)
		all, err := drain(t, r)
		require.NoError(t, err)
		require.Len(t, all, len(messages))
		for i, m := range all {
			require.Equal(t, got{"standard input", int64(i + 1), messages[i]}, m)
		}
	}
}

func TestLinesComeWithTheirNumbersAndBlankOnesAreNone(t *testing.T) {
	t.Parallel()
	text := "{\"value\":null}\n\n  {\"value\":\"b\"}\r\n{\"value\":{\"c\": 1}}"
	r, err := Files([]string{"-"}, iotest.HalfReader(strings.NewReader(text)), Options{MaxMessage: 1 << 20})
	require.NoError(t, err)
	all, err := drain(t, r)
	require.NoError(t, err)
	require.Equal(t, []got{{"standard input", 1, ""}, {"standard input", 3, "b"}, {"standard input", 4, `{"c": 1}`}}, all)
}

func TestBlankLinesBeforeALineThatIsNotThereYetAreCountedOnce(t *testing.T) {
	t.Parallel()
	text := "\n\n{\"value\":\"a\"}\n\n{\"value\":\"b\"}"
	r, err := Files([]string{"-"}, iotest.OneByteReader(strings.NewReader(text)), Options{MaxMessage: 1 << 20})
	require.NoError(t, err)
	all, err := drain(t, r)
	require.NoError(t, err)
	require.Equal(t, []got{{"standard input", 3, "a"}, {"standard input", 5, "b"}}, all)
}

func TestByteOrderMarkBeforeJSONIsNoneOfIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		bare    bool
		payload []string
	}{
		"m.ndjson":     {"\ufeff{\"value\":\"a\"}\n{\"value\":\"b\"}\n", false, []string{"a", "b"}},
		"bare.ndjson":  {"\ufeff{}\n", true, []string{"{}"}},
		"blank.ndjson": {"\ufeff\n{\"value\":\"a\"}", false, []string{"a"}},
		"m.json":       {"\ufeff{}", false, []string{"{}"}},
		"m.binpb":      {"\ufeff{}", false, []string{"\ufeff{}"}},
	} {
		r, err := Files([]string{written(t, name, []byte(c.text))}, nil, Options{MaxMessage: 1 << 20, Bare: c.bare})
		require.NoError(t, err)
		all, err := drain(t, r)
		require.NoError(t, err, name)
		var payloads []string
		for _, m := range all {
			payloads = append(payloads, m.payload)
		}
		require.Equal(t, c.payload, payloads, name)
	}
}

func TestDirectoryIsItsFilesOfMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, data := range map[string]string{
		"b.json": `{"b":1}`, "a.binpb": "\x0a\x01a", "in/c.ndjson": "{\"value\":\"1\"}\n{\"value\":\"2\"}\n", "README.md": "none",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
	}
	r, err := Files([]string{dir}, nil, Options{MaxMessage: 1 << 20})
	require.NoError(t, err)
	all, err := drain(t, r)
	require.NoError(t, err)
	var seen []string
	for _, m := range all {
		seen = append(seen, fmt.Sprintf("%s:%d %q", strings.TrimPrefix(m.name, dir+"/"), m.number, m.payload))
	}
	require.Equal(t, []string{`a.binpb:1 "\n\x01a"`, `b.json:1 "{\"b\":1}"`, `in/c.ndjson:1 "1"`, `in/c.ndjson:2 "2"`}, seen)
}

func TestWhatIsCutOffOrTooLongIsAnErrorThatSaysWhere(t *testing.T) {
	t.Parallel()
	whole := delimitedBytes("one", strings.Repeat("2", 200))
	for _, c := range []struct {
		name, file string
		data       []byte
		options    Options
		want       string
	}{
		{"in a message", "m.binpb", whole[:50], Options{Delimited: true}, "is cut off: message 2 at byte 4 has 200 bytes, and 44 are there"},
		{"in a length", "m.binpb", whole[:5], Options{Delimited: true}, "is cut off: message 2 at byte 4 has half a length"},
		{"no length", "m.binpb", bytes.Repeat([]byte{0xff}, 20), Options{Delimited: true}, "byte 0: there is no length of message 1: is the file delimited?"},
		{"a length that lies", "m.binpb", binary.AppendUvarint(nil, 1<<62), Options{Delimited: true}, "byte 0: a message of 4611686018427387904 bytes, and at most 1024 are read: raise --max-message"},
		{"a long message", "m.binpb", bytes.Repeat([]byte("x"), 2000), Options{}, "a message of 2000 bytes, and at most 1024 are read"},
		{"a long line", "m.ndjson", bytes.Repeat([]byte("x"), 1<<20), Options{}, "m.ndjson:1: a message of"},
		{"no JSON", "m.ndjson", []byte("{\"value\":\"1\"}\n{\"value\":\"2\n"), Options{}, "at byte 11: the JSON is cut off"},
		{"no payload", "m.ndjson", []byte(`{"payment_id":"p-1"}`), Options{}, "there is no value and no payload"},
		{"two payloads", "m.ndjson", []byte(`{"value":"1","payload":"2"}`), Options{}, "payload is there twice, or by two names"},
		{"two messages", "m.ndjson", []byte(`{"value":"1"} {"value":"2"}`), Options{}, "something is behind the JSON of the message"},
		{"no base64", "m.ndjson", []byte(`{"value_base64":"***"}`), Options{}, "value_base64 is no base64"},
		{"headers of another shape", "m.ndjson", []byte(`{"headers":7,"value":"1"}`), Options{}, "headers are no object and no array"},
		{"a header without a value", "m.ndjson", []byte(`{"headers":["a"],"value":"1"}`), Options{}, "a value is missing"},
		{"a header that is no text", "m.ndjson", []byte(`{"headers":{"a":true},"value":"1"}`), Options{}, "header a is no text, null or number"},
		{"a partition that is none", "m.ndjson", []byte(`{"partition":1.5,"value":"1"}`), Options{}, "partition is no integer from 0 to 2147483647"},
		{"headers twice", "m.ndjson", []byte(`{"headers":{"a":"1"},"headers":{"b":"2"},"value":"1"}`), Options{}, "headers is there twice"},
		{"a key by two names", "m.ndjson", []byte(`{"key":"1","key_base64":"MQ==","value":"1"}`), Options{}, "key_base64 is there twice, or by two names"},
		{"a partition below 0", "m.ndjson", []byte(`{"partition":-1,"value":"1"}`), Options{}, "partition is no integer from 0"},
		{"no partitions", "m.ndjson", []byte(`{"partitions":0,"value":"1"}`), Options{}, "partitions is no integer from 1"},
		{"an offset below 0", "m.ndjson", []byte(`{"offset":-1001,"value":"1"}`), Options{}, "offset is no integer from 0"},
		{"a time in no year", "m.ndjson", []byte(`{"ts":9223372036854775807,"value":"1"}`), Options{}, "ts is in no year from 1970 to 9999"},
		{"a time below 0", "m.ndjson", []byte(`{"timestamp":-2,"value":"1"}`), Options{}, "timestamp is in no year from 1970 to 9999"},
		{"a time that is none", "m.ndjson", []byte(`{"ts":"today","value":"1"}`), Options{}, "ts is no time of RFC 3339, and no milliseconds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.options.MaxMessage = 1024
			r, err := Files([]string{written(t, c.file, c.data)}, nil, c.options)
			require.NoError(t, err)
			_, err = drain(t, r)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestInputsThatAreNoneAreErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path, want string }{
		{"a file that is not there", filepath.Join(t.TempDir(), "none.ndjson"), "no such file"},
		{"a file of no known name", written(t, "m.txt", nil), "what is in it is told by its name"},
		{"a directory without messages", t.TempDir(), "there is no file of messages in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Files([]string{c.path}, nil, Options{})
			require.ErrorContains(t, err, c.want)
		})
	}
}
