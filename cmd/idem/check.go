package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages"
	"github.com/idem-spec/idem/internal/lint/messages/input"
	"github.com/idem-spec/idem/internal/schema"
)

// checkFlags are the flags of `idem check`.
type checkFlags struct {
	lintFlags
	schema, message, payload string
	delimited, bare          bool
	maxMessage, maxPayload   size
	memory                   size
	partitions               int32
	maxFindings              int

	kafka        kafkaFlags
	topics       []string
	since, until string
	follow       bool
}

func newCheck(std streams) *cobra.Command {
	flags := checkFlags{maxMessage: input.DefaultMaxMessage, maxPayload: messages.DefaultMaxPayload, memory: messages.DefaultMemory}
	command := &cobra.Command{
		Use:   "check [INPUT...]",
		Short: "Find what is wrong with messages: headers, keys, payloads, and what copies do not have in common",
		Long: `Checks messages against the schema and the spec. An INPUT is

  FILE.binpb          the bytes of one message; with --delimited of many, each behind its length as a varint
  FILE.json           one message in protobuf's JSON
  FILE.ndjson         a message with its headers a line (also .jsonl); - is that on standard input
  DIRECTORY           all such files in it

and with --topic it is a topic of Kafka, which is read for no group: nothing is joined or committed. --follow reads
partitions too that are added.

A line is a JSON object: headers ({"name": "value"}, ["name", "value", …] or [{"key": …, "value": …}, …]), value or
payload (an object is the message in JSON, text its bytes; value_base64 or payload_base64 otherwise), and where
they are known topic, partition, partitions, timestamp or ts, and key. What ` + "`kcat -C -J`" + ` and
` + "`rpk topic consume`" + ` print is read as it is. With --bare a line is a payload in JSON.

A payload is protobuf, protobuf's JSON, or Confluent's wire format, which its first byte tells; with
--payload envelope it is an idem.v1.Envelope. Which message it is the event_type header says, else --type.

Findings go to standard output, and how far it is and a summary to standard error. However many messages there
are, memory is bounded: keys beyond --memory go to a file, which is removed at the end. Values are shown cut,
and never of a field marked debug_redact. A line that is no message is a finding, and the run goes on. Exit codes:
0 there is no finding, 1 there are, 2 an input cannot be read: it is cut off, say, or the broker is away.`,
		Example: `  idem check --schema proto messages.ndjson
  idem check --type shop.v1.PaymentSucceeded --delimited payments.binpb
  kcat -C -J -e -b localhost:9092 -t orders | idem check -
  idem check --kafka-brokers localhost:9092 --topic orders --since 1h
  idem check --topic orders --since 10m --follow`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args) },
	}
	flags.lintFlags.add(command)
	flags.addInput(command)
	flags.kafka.addAs(command, "kafka-brokers")
	return command
}

func (f *checkFlags) addInput(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.schema, "schema", "", "directory of .proto files, or an image (default: the schema of idem.yaml)")
	flags.StringVar(&f.message, "type", "", "full name of the message, where the headers do not say")
	flags.StringVar(&f.payload, "payload", messages.Auto.String(), "what payloads are: "+strings.Join(messages.Formats(), ", "))
	flags.BoolVar(&f.delimited, "delimited", false, "binary files are messages one after the other, each behind its length")
	flags.BoolVar(&f.bare, "bare", false, "a line is a payload in JSON, without headers")
	flags.Var(&f.maxMessage, "max-message", "the most bytes of a payload that is read")
	flags.Var(&f.maxPayload, "max-payload", "the most bytes of a payload that topics take; more is a finding")
	flags.Var(&f.memory, "memory", "memory for keys, before they go to a file in TMPDIR; at least 1MiB")
	flags.Int32Var(&f.partitions, "partitions", 0, "how many partitions the topic has, where lines do not say")
	flags.IntVar(&f.maxFindings, "max-findings", 1000, "the most findings that are shown; the others are counted")
	flags.StringSliceVar(&f.topics, "topic", nil, "a topic of Kafka; may come several times")
	flags.StringVar(&f.since, "since", "", "first time, as RFC 3339 or how long ago: 1h (default: the beginning)")
	flags.StringVar(&f.until, "until", "", "last time, likewise (default: now)")
	flags.BoolVar(&f.follow, "follow", false, "go on with messages that come, until interrupted; findings are shown as they are made")
	offer(command, "payload", messages.Formats()...)
}

func (f *checkFlags) run(ctx context.Context, std streams, inputs []string) error {
	if f.maxFindings < 1 {
		return fmt.Errorf("--max-findings %d: it is at least 1", f.maxFindings)
	}
	if f.memory < messages.MinMemory {
		least := size(messages.MinMemory)
		return fmt.Errorf("--memory %s: it is at least %s: with less, nearly all time goes into files of a few keys each", &f.memory, &least)
	}
	if f.partitions < 0 {
		return fmt.Errorf("--partitions %d: it is at least 1, and 0 where nobody knows", f.partitions)
	}
	run, err := f.begin(lint.Message)
	if err != nil {
		return err
	}
	options, err := f.options(ctx, std, run)
	if err != nil {
		return err
	}
	reader, closeReader, err := f.reader(ctx, std, inputs)
	if err != nil {
		return err
	}
	defer closeReader()
	out, err := run.open(std, false)
	if err != nil {
		return err
	}
	checked := &checkRun{lintReport: out, flags: f, progress: newProgress(std.err), byRule: map[*lint.Rule]int64{}}
	options.Report, options.Progress = checked.found, checked.show
	summary, err := messages.Run(ctx, reader, options)
	checked.progress.clear()
	if err != nil {
		return checked.breakOff(summary, readingFailed(err))
	}
	return checked.finish(summary)
}

// readingFailed is the error of an input that cannot be read, unless the run was interrupted.
func readingFailed(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return brokenf("%w", err)
}

// options are those of the run but for what becomes of findings.
func (f *checkFlags) options(ctx context.Context, std streams, run *linting) (messages.Options, error) {
	o := messages.Options{
		MaxPayload: int(f.maxPayload), Partitions: f.partitions, Memory: int64(f.memory), Wanted: run.wanted, Endless: f.follow,
	}
	var err error
	if o.Format, err = messages.FormatOf(f.payload); err != nil {
		return o, err
	}
	name := f.schema
	if name == "" {
		name = run.repository.schema()
	}
	read, err := readSchema(ctx, std, name)
	if err != nil {
		return o, brokenf("%w", err)
	}
	set, problems := schema.Build(read.All, read.Paths)
	if len(problems) > 0 {
		return o, brokenf("%s", schema.Report(problems))
	}
	o.Set = set
	names := annotated(set)
	if len(names) == 0 {
		return o, brokenf("%s has no message with option (idem.v1.message)", name)
	}
	if f.message == "" {
		return o, nil
	}
	if o.Type = set.Message(protoreflect.FullName(f.message)); o.Type == nil {
		return o, fmt.Errorf("--type %s: the messages with option (idem.v1.message) are %s%s", f.message, strings.Join(names, ", "), lint.DidYouMean(f.message, names))
	}
	return o, nil
}

// reader opens the inputs.
func (f *checkFlags) reader(ctx context.Context, std streams, inputs []string) (input.Reader, func(), error) {
	if len(f.topics) == 0 {
		if f.follow || f.since != "" || f.until != "" || len(f.kafka.brokers) > 0 {
			return nil, nil, errors.New("--kafka-brokers, --since, --until and --follow go with --topic")
		}
		if len(inputs) == 0 {
			return nil, nil, errors.New("nothing to check: name files or a directory, - for standard input, or --topic")
		}
		if f.message == "" && f.payload != messages.Envelope.String() && !slices.ContainsFunc(inputs, f.mayHaveHeaders) {
			return nil, nil, errors.New("no --type: a payload without headers does not say which message it is, as in shop.v1.PaymentSucceeded")
		}
		r, err := input.Files(inputs, std.in, input.Options{Delimited: f.delimited, Bare: f.bare, MaxMessage: int(f.maxMessage)})
		if err != nil {
			return nil, nil, brokenf("%w", err)
		}
		return r, func() { _ = r.Close() }, nil
	}
	if len(inputs) > 0 {
		return nil, nil, fmt.Errorf("%s and --topic: read one of them", inputs[0])
	}
	return f.kafkaReader(ctx)
}

// mayHaveHeaders says that messages of an input may say their type.
func (f *checkFlags) mayHaveHeaders(name string) bool {
	return !f.bare && !f.delimited && !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".binpb")
}

func (f *checkFlags) kafkaReader(ctx context.Context) (input.Reader, func(), error) {
	now := time.Now()
	since, err := moment("--since", f.since, now)
	if err != nil {
		return nil, nil, err
	}
	until, err := moment("--until", f.until, now)
	if err != nil {
		return nil, nil, err
	}
	if f.follow && f.until != "" {
		return nil, nil, errors.New("--follow has no end: leave --until out")
	}
	if f.follow && f.format != "text" {
		return nil, nil, fmt.Errorf("--follow writes findings as they are made, and --format %s is one document: leave one of them out", f.format)
	}
	log, err := f.kafka.open(false)
	if err != nil {
		return nil, nil, err
	}
	r, err := input.Kafka(ctx, log, input.Topics{Names: f.topics, Since: since, Until: until, Follow: f.follow, MaxMessage: int(f.maxMessage)})
	if err != nil {
		_ = log.Close()
		return nil, nil, readingFailed(err)
	}
	return r, func() { _ = log.Close() }, nil
}

// moment is a time, or how long ago it was; zero where nothing is said.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := durationWithDays(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("%s %s: it is how long ago, as in 1h or 7d, or a time, as in 2025-01-01T04:00:00Z", flag, text)
	}
	return at, nil
}

// durationWithDays is a duration of Go, or a number of days, such as 7d.
func durationWithDays(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	return time.Duration(n) * 24 * time.Hour, err
}
