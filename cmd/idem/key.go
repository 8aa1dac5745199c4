package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/dynamic"
	"github.com/idem-spec/idem/internal/render"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
)

// keyFlags are the flags of `idem key`.
type keyFlags struct {
	schema  string
	message string
	of      string
	format  string
	explain bool
	asJSON  bool

	empty bool // the payload
}

func newKey(std streams) *cobra.Command {
	var flags keyFlags
	command := &cobra.Command{
		Use:   "key --type MESSAGE [PAYLOAD]",
		Short: "Render the key of a message, and show how it comes about",
		Long: `Renders a template of a message from its payload, as generated code does: the idempotency key,
or with --of the biz key, the fingerprint or the previous key.

The payload is a file with the message in protobuf's JSON (.json) or in its bytes; without one, or
as -, standard input is read. The schema is a directory of .proto files or an image, which
` + "`buf build -o image.binpb`" + ` writes; the default is what idem.yaml says, here or above within the repository.`,
		Example: `  idem key --schema proto --type shop.v1.PaymentSucceeded payment.json
  idem key --type shop.v1.PaymentSucceeded --explain payment.json
  idem key --schema image.binpb --type shop.v1.PaymentSucceeded --of fingerprint payment.binpb`,
		Args: upTo("PAYLOAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			payload := "-"
			if len(args) == 1 {
				payload = args[0]
			}
			return flags.run(cmd.Context(), payload, std)
		},
	}
	f := command.Flags()
	f.StringVar(&flags.schema, "schema", "", "directory of .proto files, or an image")
	f.StringVar(&flags.message, "type", "", "full name of the message")
	f.StringVar(&flags.of, "of", "idempotency_key", "template: idempotency_key, idempotency_key_previous, biz_key or fingerprint")
	f.StringVar(&flags.format, "format", "auto", "format of the payload: json, binary, or auto by the file's name")
	f.BoolVar(&flags.explain, "explain", false, "show each segment's value, canonical text and component")
	f.BoolVar(&flags.asJSON, "json", false, "as one JSON object, with the segments")
	offerFunc(command, "type", flags.messageNames)
	offer(command, "of", "idempotency_key", "idempotency_key_previous", "biz_key", "fingerprint")
	offer(command, "format", "auto", "json", "binary")
	return command
}

func (f *keyFlags) run(ctx context.Context, payload string, std streams) error {
	if f.message == "" {
		return errors.New("no --type: the full name of the message, as in shop.v1.PaymentSucceeded")
	}
	if !slices.Contains([]string{"auto", "json", "binary"}, f.format) {
		return fmt.Errorf("--format %s: it is json, binary or auto", f.format)
	}
	if f.schema == "" {
		var err error
		if f.schema, err = configuredSchema(); err != nil {
			return err
		}
	}
	message, err := f.find(ctx)
	if err != nil {
		return err
	}
	template, compute, err := f.template(message)
	if err != nil {
		return err
	}
	m, err := f.read(message.Desc, payload, std.in)
	if err != nil {
		return err
	}
	text, steps, err := compute(template, m)
	return f.tell(std, message, template, text, steps, err)
}

// set reads the schema.
func (f *keyFlags) set(ctx context.Context) (*schema.Set, []schema.Problem, error) {
	files, err := source.Read(ctx, f.schema)
	if err != nil {
		return nil, nil, err
	}
	set, problems := schema.Build(files.All, files.Paths)
	return set, problems, nil
}

// annotated returns the names of the messages that have templates.
func annotated(set *schema.Set) []string {
	var names []string
	for _, file := range set.Files {
		for _, m := range file.Messages {
			names = append(names, string(m.Desc.FullName()))
		}
	}
	return names
}

// find reads the schema and returns the message.
func (f *keyFlags) find(ctx context.Context) (*schema.Message, error) {
	set, problems, err := f.set(ctx)
	if err != nil {
		return nil, brokenf("%w", err)
	}
	message := set.Message(protoreflect.FullName(f.message))
	if message != nil {
		// What is wrong in another file is no obstacle.
		problems = slices.DeleteFunc(problems, func(p schema.Problem) bool { return p.File != message.Desc.ParentFile().Path() })
	}
	if len(problems) > 0 {
		return nil, brokenf("%s", schema.Report(problems))
	}
	if message != nil {
		return message, nil
	}
	names := annotated(set)
	if len(names) == 0 {
		return nil, brokenf("%s has no message with option (idem.v1.message)", f.schema)
	}
	return nil, fmt.Errorf("--type %s: the messages with option (idem.v1.message) are %s", f.message, strings.Join(names, ", "))
}

type computeFunc func(*schema.Template, protoreflect.Message) (string, []render.Step, error)

func (f *keyFlags) template(m *schema.Message) (*schema.Template, computeFunc, error) {
	var template *schema.Template
	var compute computeFunc
	switch f.of {
	case "idempotency_key":
		template, compute = m.Key, render.Key
	case "idempotency_key_previous":
		template, compute = m.KeyPrevious, render.Key
	case "biz_key":
		template, compute = m.BizKey, render.BizKey
	case "fingerprint":
		template, compute = m.Fingerprint, render.Fingerprint
	default:
		return nil, nil, fmt.Errorf("--of %s: it is idempotency_key, idempotency_key_previous, biz_key or fingerprint", f.of)
	}
	if template == nil {
		return nil, nil, failf("%s has no %s", f.message, f.of)
	}
	return template, compute, nil
}

// maxPayload is more than any carrier's message has.
const maxPayload = 256 << 20

// read reads the payload into a message.
func (f *keyFlags) read(d protoreflect.MessageDescriptor, name string, in io.Reader) (protoreflect.Message, error) {
	isJSON := f.format == "json" || f.format == "auto" && (name == "-" || strings.HasSuffix(name, ".json"))
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, brokenf("read the payload: %w", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxPayload+1))
	if err != nil {
		return nil, brokenf("read the payload: %w", err)
	}
	if len(data) > maxPayload {
		return nil, brokenf("the payload has more than %d bytes", maxPayload)
	}
	f.empty = len(data) == 0
	m := dynamicpb.NewMessage(d)
	if isJSON {
		err = protojson.Unmarshal(data, m)
	} else {
		err = dynamic.Unmarshal(data, m)
	}
	if err != nil {
		return nil, wrongPayload(d, data, isJSON, err)
	}
	return m, nil
}

// wrongPayload says why the payload is no message, and in which format it may be one.
func wrongPayload(d protoreflect.MessageDescriptor, data []byte, isJSON bool, err error) error {
	begin := bytes.TrimLeft(data, " \t\r\n")
	looksJSON := bytes.HasPrefix(begin, []byte("{"))
	switch {
	case isJSON && len(begin) == 0:
		return failf("the payload is empty: a message without fields is {} in JSON")
	case isJSON && !looksJSON:
		return failf("the payload is no %s in protobuf's JSON: %w\nIf it is in protobuf's bytes, say --format binary", d.FullName(), err)
	case isJSON:
		return failf("the payload is no %s in protobuf's JSON: %w", d.FullName(), err)
	case looksJSON:
		return failf("the payload is no %s in protobuf's bytes, and it looks like JSON: say --format json", d.FullName())
	default:
		return failf("the payload is no %s in protobuf's bytes: %w", d.FullName(), err)
	}
}

// explained is the outcome as JSON.
type explained struct {
	Type     string        `json:"type"`
	Of       string        `json:"of"`
	Template string        `json:"template"`
	Segments []render.Step `json:"segments"`
	Text     string        `json:"text,omitempty"`
	Error    string        `json:"error,omitempty"`
}

func (f *keyFlags) tell(std streams, m *schema.Message, t *schema.Template, text string, steps []render.Step, err error) error {
	switch {
	case f.asJSON:
		out := explained{Type: string(m.Desc.FullName()), Of: f.of, Template: t.Text, Segments: steps, Text: text}
		if err != nil {
			out.Text, out.Error = "", message(err)
		}
		if err := writeJSON(std.out, out); err != nil {
			return brokenf("%w", err)
		}
	case f.explain:
		fmt.Fprintf(std.out, "%s of %s\n%s\n\n", f.of, m.Desc.FullName(), t.Text)
		explain(std.out, steps)
		if err == nil {
			fmt.Fprintf(std.out, "\n%s\n", text)
		}
	case err == nil:
		fmt.Fprintln(std.out, text)
	}
	switch {
	case err != nil && f.empty:
		return failf("%w\nThe payload is empty, which is a message without fields", err)
	case err != nil:
		return failf("%w", err)
	}
	return nil
}

// explain writes a table of the segments.
func explain(w io.Writer, steps []render.Step) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "segment\tkind\tvalue\tcanonical text\tcomponent")
	for _, s := range steps {
		value, canonical, component := s.Value, s.Canonical, s.Component
		switch {
		case s.Error != "":
			canonical, component = "-", s.Error
			if s.Redacted {
				value = "(redacted)"
			} else if value == "" {
				value = "not set"
			}
		case s.Absent:
			value, canonical = "not set", "-"
		case s.Redacted:
			value, canonical = "(redacted)", "(redacted)"
		case s.Kind == "literal":
			value, canonical = "-", "-"
		}
		kind := s.Kind
		if s.Digest {
			kind += ", sha256"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.Segment, kind, shown(value), shown(canonical), component)
	}
	_ = table.Flush()
}

// shown is a text for a table: control characters escaped, cut where it is long.
func shown(s string) string {
	const most = 60
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
