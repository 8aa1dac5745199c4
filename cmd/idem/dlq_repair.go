package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/idem-spec/idem/internal/operate/payload"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// repairJSON is what a repair makes of a dead letter's payload, in --output json. Fields are added, and never renamed or
// removed.
type repairJSON struct {
	PayloadBytes  int              `json:"payload_bytes"`
	PayloadSHA256 string           `json:"payload_sha256"`
	Changes       []payload.Change `json:"changes,omitempty"`
	// Error says why the payloads cannot be compared by a schema.
	Error string `json:"error,omitempty"`
}

// checkRepair refuses a payload of another key: its effect would be another message's. Without a schema nobody knows.
func (f *redriveFlags) checkRepair(std streams, schema *payload.Schema, d *store.DeadLetter, repair func(*store.DeadLetter) ([]byte, error)) (*repairJSON, error) {
	repaired, err := repair(d)
	if err != nil {
		return nil, err
	}
	changed := &repairJSON{PayloadBytes: len(repaired), PayloadSHA256: payload.Digest(repaired)}
	if schema == nil {
		return changed, nil
	}
	own, other, err := schema.OtherKey(d.EventType, string(d.Key), repaired)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--payload %s: %w", f.payload, err)
	case other && !f.secondEffect:
		return nil, fmt.Errorf("--payload %s: by its fields its key is %s, and the dead letter's is %s: mend what the key is made of, or, where another effect under this key is meant, give --allow-second-effect",
			f.payload, show.Text(own), show.Text(string(d.Key)))
	case other:
		fmt.Fprintf(std.err, "warning: by its fields the key of the repaired payload is %s; it is redriven as %s\n", show.Text(own), show.Text(string(d.Key)))
	}
	if schema.Same(d.EventType, d.Payload, repaired) {
		fmt.Fprintln(std.err, "warning: the repaired payload says what the old one says: it will most likely end as it did")
	}
	lost, err := schema.Lost(d.EventType, d.Payload, repaired)
	if err != nil {
		return nil, err
	}
	if len(lost) > 0 {
		fmt.Fprintln(std.err, "warning: the repaired payload lacks what was there and is never shown:", show.Text(strings.Join(lost, ", ")))
	}
	if changed.Changes, err = schema.Diff(d.EventType, d.Payload, repaired); err != nil {
		changed.Error = err.Error()
	}
	return changed, nil
}

// repair is nil where the payload stays, and the schema where none is needed.
func (f *redriveFlags) repair(ctx context.Context) (func(*store.DeadLetter) ([]byte, error), *payload.Schema, error) {
	if f.payload == "" {
		return nil, nil, nil
	}
	data, err := os.ReadFile(f.payload)
	if err != nil {
		return nil, nil, brokenf("--payload: %w", err)
	}
	var schema *payload.Schema
	if f.schema != "" {
		if schema, err = readPayloadSchema(ctx, f.schema); err != nil {
			return nil, nil, err
		}
	}
	if !strings.HasSuffix(f.payload, ".json") {
		return func(*store.DeadLetter) ([]byte, error) { return data, nil }, schema, nil
	}
	return func(d *store.DeadLetter) ([]byte, error) {
		encoded, err := schema.Encode(d.EventType, data, d.Payload)
		if err != nil {
			return nil, fmt.Errorf("--payload %s: %w", f.payload, err)
		}
		return encoded, nil
	}, schema, nil
}

// showRepair shows the one dead letter that is repaired, and what the repair changes.
func (f *redriveFlags) showRepair(std streams, rows *sheet[store.DeadLetter], d *store.DeadLetter, line any, changed *repairJSON) error {
	if f.json() {
		return show.Line(std.out, line)
	}
	show.Table(std.out, rows.head, [][]string{rows.row(d)})
	changed.print(std.out, d)
	if f.schema == "" {
		fmt.Fprintln(std.err, "which fields the repair changes is shown by --schema, a directory of .proto files or an image")
	}
	return nil
}

// repairWidth is how much of a value is shown.
const repairWidth = 120

func (r *repairJSON) print(w io.Writer, d *store.DeadLetter) {
	fmt.Fprintf(w, "the payload is repaired: %d bytes, sha256 %s, become %d bytes, sha256 %s\n", len(d.Payload), payload.Digest(d.Payload), r.PayloadBytes, r.PayloadSHA256)
	if r.Error != "" {
		fmt.Fprintln(w, "the fields cannot be compared:", show.Text(r.Error))
	}
	for _, c := range r.Changes {
		if c.Hidden {
			fmt.Fprintf(w, "  %s: it differs, and is hidden\n", show.Text(c.Path))
			continue
		}
		fmt.Fprintf(w, "  %s: %s → %s\n", show.Text(c.Path), valueText(c.Before), valueText(c.After))
	}
}

func valueText(value []byte) string {
	if value == nil {
		return "not set"
	}
	return show.Text(show.Cut(string(value), repairWidth))
}
