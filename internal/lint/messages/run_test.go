package messages

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages/input"
)

// many are lines with copies, reused and regenerated keys among them.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		key, amount := i, i
		switch i % 100 {
		case 97:
			key, amount = i-50, i-50 // a copy
		case 98:
			key = i - 60 // reused
		}
		fmt.Fprintln(&b, line(fmt.Sprintf(`"idempotency_key":"pay:v2:p-%d","event_id":"e-%d"`, key, i), fmt.Sprintf(`"payment_id":"p-%d","amount":"%d"`, key, amount)))
	}
	return b.String()
}

func TestFindingsDoNotDependOnMemoryOrWorkers(t *testing.T) {
	t.Parallel()
	set, lines := setOf(t, shop), many(20_000)
	wanted := func(r *lint.Rule) bool { return r == keyReused || r == keyRegenerated }
	findings, summary := checked(t, set, lines, func(o *Options) { o.Wanted = wanted })
	require.EqualValues(t, 20_000, summary.Messages)
	require.EqualValues(t, 19_600, summary.Keys)
	require.EqualValues(t, 400, summary.Duplicates)
	require.EqualValues(t, 200, summary.Conflicting)
	require.Len(t, of(findings, keyReused.ID), 200)
	for _, change := range []func(*Options){
		func(o *Options) { o.Memory = 1 << 20 },
		func(o *Options) { o.Workers = 1 },
		func(o *Options) { o.Workers = 7 },
	} {
		again, other := checked(t, set, lines, func(o *Options) { o.Wanted = wanted; change(o) })
		require.Equal(t, findings, again)
		if other.Spilled > 0 {
			other.Spilled = 0
		}
		require.Equal(t, summary, other)
	}
}

// broken gives some messages, and then an error.
type broken struct {
	reader input.Reader
	err    error
}

func (b *broken) Read(ctx context.Context, batch *input.Batch) error {
	err := b.reader.Read(ctx, batch)
	if errors.Is(err, io.EOF) {
		return b.err
	}
	return err
}

func (b *broken) Close() error { return nil }

func TestErrorOfTheReaderEndsTheRunBehindWhatWasRead(t *testing.T) {
	t.Parallel()
	files, err := input.Files([]string{"-"}, strings.NewReader(many(500)), input.Options{MaxMessage: 1 << 20})
	require.NoError(t, err)
	away := errors.New("the broker is away")
	found := 0
	summary, err := Run(t.Context(), &broken{files, away}, Options{
		Set: setOf(t, shop), Memory: 1, TempDir: t.TempDir(), MaxPayload: DefaultMaxPayload,
		Wanted: func(r *lint.Rule) bool { return r == keyReused },
		Report: func(uint64, lint.Finding) error { found++; return nil },
	})
	require.ErrorIs(t, err, away)
	require.EqualValues(t, 500, summary.Messages)
	require.Equal(t, 5, found, "those of keys that went to disk too")
}

func TestLineThatIsNoMessageIsAFindingAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	set := setOf(t, shop)
	sound := line(`"idempotency_key":"pay:v2:p"`, `"payment_id":"p"`)
	for _, c := range []struct{ name, line, what, mend string }{
		{"NaN", line(``, `"cents":NaN`), "at byte 65: JSON has no NaN and no Infinity", "as text"},
		{"ill-formed UTF-8", line(``, "\"card\":\"\xff\""), "at byte 65: a string is ill-formed UTF-8", "payload_base64"},
		{"half a surrogate pair", line(``, `"card":"\ud83d"`), "at byte 65: half of a surrogate pair is no character", ""},
		{"nesting without an end", line(``, `"x":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)), "it is nested more than 1000 deep", ""},
		{"no object", `[1]`, "at byte 0: it is no JSON of a message", ""},
		{"half a line", `{"value":{"a"`, "at byte 13: the JSON is cut off", ""},
		{"a payload without headers", `{"payment_id":"p"}`, "at byte 0: there is no value and no payload", "say --bare"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			findings, summary := checked(t, set, strings.Join([]string{sound, c.line, sound}, "\n"), func(o *Options) {
				o.Wanted = func(r *lint.Rule) bool { return r.ID == "IDEM_PAYLOAD_UNREADABLE" }
			})
			require.EqualValues(t, 3, summary.Messages)
			require.EqualValues(t, 1, summary.Unparsed)
			require.EqualValues(t, 1, summary.Duplicates)
			require.Len(t, findings, 1)
			require.Equal(t, 2, findings[0].Position.Line)
			require.Contains(t, findings[0].What, "the line is no message: ")
			require.Contains(t, findings[0].What, c.what)
			require.Contains(t, findings[0].Mend, c.mend)
		})
	}
}

// silent never ends a read.
type silent struct{}

func (silent) Read(context.Context, *input.Batch) error { select {} }
func (silent) Close() error                             { return nil }

func TestRunEndsWithItsContextThoughTheReaderDoesNot(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, silent{}, Options{Set: setOf(t, shop), Wanted: func(*lint.Rule) bool { return true }, Report: func(uint64, lint.Finding) error { return nil }})
	require.ErrorIs(t, err, context.Canceled)
}

func FuzzMessage(f *testing.F) {
	set := setOf(f, shop)
	f.Add([]byte("retry_count"), []byte("1"), []byte("\x0a\x01p"), []byte("k"))
	f.Add([]byte("event_type"), []byte("plain"), []byte(`{"id":"1"}`), []byte(nil))
	f.Add([]byte("content-type"), []byte("application/json"), []byte("\x00\x00\x00\x00\x01\x00\x0a\x01p"), []byte("o"))
	f.Fuzz(func(t *testing.T, name, value, payload, key []byte) {
		quoted := func(b []byte) string { return fmt.Sprintf(`{"base64":%q}`, b64(b)) }
		line := fmt.Sprintf(`{"key_base64":%q,"headers":["event_type","pay",%q,%s,"idempotency_key",%s],"value_base64":%q,"partition":1,"partitions":3}`,
			b64(key), safe(name), quoted(value), quoted(key), b64(payload))
		findings, _ := checked(t, set, line, nil)
		for _, found := range findings {
			require.NotContains(t, found.What, "panic")
		}
	})
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// safe is a text that JSON can have as Go quotes it.
func safe(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return '.'
		}
		return r
	}, string(b))
}
