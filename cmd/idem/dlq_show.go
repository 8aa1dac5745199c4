package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/payload"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// dlqShowFlags are the flags of `idem dlq show`.
type dlqShowFlags struct {
	operateFlags
	deadTopic
	schema, raw string
}

func newDLQShow(std streams) *cobra.Command {
	var flags dlqShowFlags
	command := &cobra.Command{
		Use:   "show ID",
		Short: "Show a dead letter: why it ended, its headers, its payload",
		Long: `Shows all that is known of a dead letter. With --schema the payload is decoded, without the fields that are marked
debug_redact and those that the schema does not know; without it, its size and digest are shown. --raw writes its bytes
to a file that is not there yet, and that nobody else can read. Of one that was redriven it shows who did, whether the
payload was replaced, and what became of it, as far as the tables tell.

` + placeHelp,
		Example: `  idem dlq show 17 --schema image.binpb
  idem dlq show 17 --raw payload.bin
  idem dlq show 3/42 --topic orders.dlq.payments`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args[0]) },
	}
	flags.operateFlags.add(command)
	flags.deadTopic.add(command)
	offerLetters(command, &flags.place)
	command.Flags().StringVar(&flags.schema, "schema", "", "directory of .proto files, or an image, to decode the payload")
	command.Flags().StringVar(&flags.raw, "raw", "", "file to write the payload's bytes to")
	return command
}

func (f *dlqShowFlags) run(ctx context.Context, std streams, arg string) error {
	schema, err := readPayloadSchema(ctx, f.schema)
	if err != nil {
		return err
	}
	d, name, redrive, err := f.find(ctx, arg)
	if err != nil {
		return err
	}
	if f.raw != "" {
		if err := writeRaw(f.raw, d.Payload); err != nil {
			return err
		}
		fmt.Fprintf(std.err, "wrote %d bytes to %s\n", len(d.Payload), f.raw)
	}
	j := letterOf(name, d)
	j.Redrive = redrive
	j.Headers = json.RawMessage(store.EncodeHeaders(d.Headers))
	if schema != nil {
		if shown, err := schema.Show(d.EventType, d.Payload); err != nil {
			j.PayloadError = err.Error()
		} else {
			j.Message, j.Payload, j.PayloadHidden = shown.Message, shown.JSON, shown.Hidden
		}
	}
	switch inTopic := f.deadTopic.topic != ""; {
	case f.json() && inTopic:
		return show.Line(std.out, topicLetterJSON{ID: placeOf(d), letterJSON: j})
	case f.json():
		return show.Line(std.out, j)
	case inTopic:
		j.Outcome = "" // no topic keeps it
		printLetter(std.out, placeOf(d), d, &j)
	default:
		printLetter(std.out, fmt.Sprint(d.ID), d, &j)
	}
	if schema == nil && f.raw == "" && !f.json() && len(d.Payload) > 0 {
		fmt.Fprintln(std.err, "the payload is shown by --schema, a directory of .proto files or an image, and its bytes are written by --raw FILE")
	}
	return nil
}

// find is the dead letter of the table or the topic, the store's name, and what became of it where it was redriven.
func (f *dlqShowFlags) find(ctx context.Context, arg string) (*store.DeadLetter, string, *redriveJSON, error) {
	if f.deadTopic.topic != "" {
		d, err := f.findInTopic(ctx, arg)
		return d, "", nil, err
	}
	ids, err := identities([]string{arg})
	if err != nil {
		return nil, "", nil, err
	}
	s, err := f.openOne(ctx, false)
	if err != nil {
		return nil, "", nil, err
	}
	defer s.Close()
	d, err := letterByID(ctx, s, ids[0])
	if err != nil {
		return nil, "", nil, unreached(ctx, err, s.DSN)
	}
	if d == nil {
		return nil, "", nil, failf("there is no dead letter %d in %s", ids[0], s.Place())
	}
	if d.RedrivenAt.IsZero() {
		return d, s.Name, nil, nil
	}
	facts, err := factsOf(ctx, s, d.Key, []string{d.Scope})
	if err != nil {
		return nil, "", nil, unreached(ctx, err, s.DSN)
	}
	redrive, err := facts.redriven(ctx, s, d)
	if err != nil {
		return nil, "", nil, unreached(ctx, err, s.DSN)
	}
	return d, s.Name, redrive, nil
}

func (f *dlqShowFlags) findInTopic(ctx context.Context, arg string) (*store.DeadLetter, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if _, _, err := placeIn(arg); err != nil {
		return nil, err
	}
	t, err := f.deadTopic.open(f.place, "", false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.broker.Close() }()
	d, err := t.at(ctx, arg)
	if err != nil {
		return nil, topicFailed(ctx, err)
	}
	if d == nil {
		return nil, failf("there is no dead letter %s in %s", arg, f.deadTopic.topic)
	}
	return d, nil
}

// readPayloadSchema is nil where there is none.
func readPayloadSchema(ctx context.Context, name string) (*payload.Schema, error) {
	if name == "" {
		return nil, nil
	}
	schema, err := payload.Read(ctx, name)
	if err != nil {
		return nil, brokenf("--schema: %w", err)
	}
	return schema, nil
}

// letterByID is nil where there is none.
func letterByID(ctx context.Context, s store.DeadLetters, id int64) (*store.DeadLetter, error) {
	list, err := s.ListDeadLetters(ctx, store.DeadLetterFilter{Redriven: true}, id-1, 1)
	if err != nil || len(list) == 0 || list[0].ID != id {
		return nil, err
	}
	return &list[0], nil
}

// writeRaw writes what nobody else may read, over nothing that is there.
func writeRaw(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return brokenf("--raw: %w", err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return brokenf("--raw: %w", err)
	}
	return nil
}

func printLetter(w io.Writer, id string, d *store.DeadLetter, j *letterJSON) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, value string) { fmt.Fprintf(t, "%s\t%s\n", name, show.Text(value)) }
	line("id", id)
	line("scope", d.Scope)
	line("key", d.Key)
	line("event type", d.EventType)
	line("biz key", d.BizKey)
	line("event id", d.EventID)
	if j.Outcome != "" {
		line("outcome", j.Outcome)
	}
	line("reason", d.Reason)
	line("ended", fmt.Sprintf("%s, %s ago", d.CreatedAt.UTC().Format(time.RFC3339), show.Age(time.Since(d.CreatedAt))))
	if r := j.Redrive; r != nil {
		how := d.RedrivenAt.UTC().Format(time.RFC3339)
		if o := r.Operation; o != nil {
			how += fmt.Sprintf(" by %s (operation %d): %s", o.Operator, o.ID, o.Reason)
		}
		line("redriven", how)
		if r.PayloadReplaced {
			line("repaired", "it was redriven with another payload than the one here")
		}
		line("since then", r.Text)
	}
	line("topic", d.Topic)
	line("source", fmt.Sprintf("%s, partition %d, offset %d", d.SourceTopic, d.SourcePartition, d.SourceOffset))
	line("counts", fmt.Sprintf("retries %d, holds %d, redrives %d", d.RetryCount, d.HoldCount, d.RedriveCount))
	line("payload", fmt.Sprintf("%d bytes, sha256 %s", j.PayloadBytes, j.PayloadSHA256))
	_ = t.Flush() // the answer remembers what could not be written
	fmt.Fprintln(w, "headers")
	for _, h := range d.Headers {
		fmt.Fprintf(w, "  %s: %s\n", show.Text(h.Name), show.Text(string(h.Value)))
	}
	switch {
	case j.PayloadError != "":
		fmt.Fprintln(w, "the payload cannot be shown:", show.Text(j.PayloadError))
	case j.Payload != nil:
		fmt.Fprintf(w, "%s\n%s\n", j.Message, show.JSON(j.Payload))
		for _, path := range j.PayloadHidden {
			fmt.Fprintln(w, "hidden:", show.Text(path))
		}
	}
}
