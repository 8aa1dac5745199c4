package input

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// parsed is the message of one line.
func parsed(t testing.TB, line string) Message {
	t.Helper()
	r, err := Files([]string{"-"}, strings.NewReader(line), Options{MaxMessage: 1 << 20})
	require.NoError(t, err)
	var b Batch
	var m Message
	require.NoError(t, r.Read(t.Context(), &b))
	require.Len(t, b.Items, 1)
	require.NoError(t, b.Parse(new(Parser), &b.Items[0], &m))
	return m
}

func TestLineOfOtherToolsIsReadAsItIs(t *testing.T) {
	t.Parallel()
	want := Message{
		Number: 1, Topic: "orders", Partition: 3, Time: time.UnixMilli(1735704000123), Key: []byte("o-7"), HasKey: true, HasHeaders: true,
		Headers: idem.Headers{{Name: "event_type", Value: []byte("x")}, {Name: "trace", Value: nil}}, Payload: []byte(`{"a":"ü"}`),
	}
	for name, line := range map[string]string{
		"kcat": `{"topic":"orders","partition":3,"offset":17,"tstype":"create","ts":1735704000123,"broker":1,` +
			`"headers":["event_type","x","trace",null],"key":"o-7","payload":"{\"a\":\"\u00fc\"}"}`,
		"rpk": `{"topic":"orders","key":"o-7","value":"{\"a\":\"ü\"}","timestamp":1735704000123,"partition":3,"offset":17,` +
			`"headers":[{"key":"event_type","value":"x"},{"key":"trace","value":null}]}`,
		"base64": `{"topic":"orders","partition":3,"timestamp":"2025-01-01T04:00:00.123Z","key_base64":"by03","payload_base64":"eyJhIjoiw7wifQ==",` +
			`"headers":{"event_type":{"base64":"eA=="},"trace":null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := parsed(t, line)
			require.True(t, want.Time.Equal(m.Time), "%v", m.Time)
			m.Time = want.Time
			require.Equal(t, want, m)
		})
	}
}

func TestLineTellsNullFromEmpty(t *testing.T) {
	t.Parallel()
	m := parsed(t, `{"key":null,"value":null}`)
	require.True(t, m.HasKey)
	require.Nil(t, m.Key)
	require.Nil(t, m.Payload)
	m = parsed(t, `{"key":"","value":""}`)
	require.NotNil(t, m.Key)
	require.NotNil(t, m.Payload)
	m = parsed(t, `{"value":{}}`)
	require.False(t, m.HasKey)
	require.True(t, m.IsJSON)
	require.EqualValues(t, -1, m.Partition)
	m = parsed(t, `{"value":{},"ts":-1}`)
	require.True(t, m.Time.IsZero(), "which is how Kafka says that there is no timestamp")
}

func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{"headers":["a","b"],"payload":"x"}`, `{"headers":{"a":null,"b":{"base64":"AA=="}},"value":{"a":[1,{}]},"key":"\ud83d\ude00"}`,
		`{"headers":[{"key":"a","value":1}],"value_base64":"AAE=","ts":1,"partition":2}`, `{"topic":"\u0000","offset":1e3,"value":null}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		b := Batch{Source: &Source{Name: "fuzz"}, parse: (*Parser).line}
		item := Item{Number: 1, raw: line}
		var m Message
		if err := b.Parse(new(Parser), &item, &m); err != nil && strings.ContainsAny(err.Error(), "\n") {
			t.Fatalf("more than a line: %v", err)
		}
	})
}
