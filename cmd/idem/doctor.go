package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/doctor"
	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
)

// doctorFlags are the flags of `idem doctor`.
type doctorFlags struct {
	operateFlags
	kafka                 kafkaFlags
	topics, groups        []string
	schema                string
	p99, lease, retention time.Duration
	list, all, strict     bool
	within                time.Duration
}

func newDoctor(std streams) *cobra.Command {
	var flags doctorFlags
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what would lose, double or hold up messages, before it does",
		Long: `Looks at the topics and groups, the databases and the Redis of a service: how they are set, and what waits in them.
It says what it found, why it matters and how to mend it, and changes nothing. --list shows the checks, and
` + "`idem explain CHECK`" + ` one of them.

Groups are --group, GROUP or GROUP=SCOPE where the scope has another name; without one and without --topic, the scopes of
the stores. Topics are --topic, or those that the groups read; the retry topics and dead-letter topics come with them.

The brokers, stores and Redis are those of the context (redis: URL there), of the flags or of the environment. How long the handler takes is
--p99, or an estimate from the records: from the claim to the success of first attempts. How long records are kept is
--retention, or what the records say, or the default. --schema says how long the retries of messages take.

Exit codes: 0 nothing is wrong; 1 there are errors, or with --strict warnings, or what could not be looked at; 2 the command
cannot be carried out as it is written, or something that was asked for does not answer.

` + placeHelp,
		Example: `  idem doctor --context prod
  idem doctor --group payments --topic orders --schema image.binpb --strict
  idem doctor --dsn postgres://app@db/shop --output json --all`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), std) },
	}
	flags.add(command)
	flags.kafka.addServer(command, "brokers")
	f := command.Flags()
	f.StringVar(&flags.place.Redis, "redis", "", "the Redis, redis://HOST:PORT/0 (default: the context's, IDEM_REDIS, REDIS_URL)")
	f.StringSliceVar(&flags.topics, "topic", nil, "a topic that the service reads or writes")
	f.StringSliceVar(&flags.groups, "group", nil, "a consumer group, or GROUP=SCOPE")
	f.StringVar(&flags.schema, "schema", "", "a directory of .proto files or an image, for the longest retries")
	f.DurationVar(&flags.p99, "p99", 0, "how long the handler takes at its 99th percentile (default: an estimate from the records)")
	f.DurationVar(&flags.lease, "lease", 0, "the consumers' lease (default: 30s, which is theirs)")
	f.DurationVar(&flags.retention, "retention", 0, "how long dedup records are kept (default: as the records say, or 336h)")
	f.BoolVar(&flags.list, "list", false, "list the checks, and look at nothing")
	f.BoolVar(&flags.all, "all", false, "show what is healthy, too")
	f.BoolVar(&flags.strict, "strict", false, "fail for warnings, and for what could not be looked at")
	f.DurationVar(&flags.within, "timeout", time.Minute, "how long it may take")
	// Most groups have the name of their scope.
	offerFunc(command, "group", func(cmd *cobra.Command) []string { return scopesOf(cmd.Context(), &flags.place) })
	return command
}

func (f *doctorFlags) run(ctx context.Context, std streams) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.list {
		return writeChecks(std.out, f.json())
	}
	if f.p99 < 0 || f.lease < 0 || f.retention < 0 || f.within <= 0 {
		return errors.New("--p99, --lease, --retention and --timeout are more than 0")
	}
	look, err := f.look(ctx)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, f.within)
	defer cancel()
	results := look.run(limited)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := writeResults(std.out, results, f.json(), f.all); err != nil {
		return err
	}
	counts := doctor.Count(results)
	switch {
	case look.unreached > 0:
		return &exit{exitUsage, nil}
	case counts[doctor.Error] > 0, f.strict && counts[doctor.Warning]+counts[doctor.Unknown] > 0:
		return &exit{exitNo, nil}
	}
	return nil
}

// look reads the flags.
func (f *doctorFlags) look(ctx context.Context) (*doctorLook, error) {
	f.place.Brokers, f.kafka.context = f.kafka.brokers, f.place.Context
	target, err := connect.Resolve(f.place)
	if err != nil {
		return nil, err
	}
	l := &doctorLook{target: target, topics: f.topics, timing: doctor.NewTiming(f.p99, f.lease, f.retention)}
	for _, text := range f.groups {
		name, scope, given := strings.Cut(text, "=")
		if name == "" || given && scope == "" {
			return nil, fmt.Errorf("--group %s: it is GROUP or GROUP=SCOPE", text)
		}
		if !given {
			scope = name
		}
		l.groups = append(l.groups, doctor.Group{Name: name, Scope: scope})
	}
	switch {
	case len(target.Brokers) > 0:
		config, err := f.kafka.config()
		if err != nil {
			return nil, err
		}
		l.brokers = &config
	case len(f.topics)+len(f.groups) > 0:
		return nil, errors.New("no --brokers: --topic and --group are looked at on Kafka")
	case len(target.Stores) == 0 && target.Redis == "":
		return nil, errors.New("nothing to look at: say --context, --brokers, --dsn or --redis")
	}
	if f.schema != "" {
		set, err := readSet(ctx, f.schema)
		if err != nil {
			return nil, err
		}
		l.timing.Schema(set)
	}
	return l, nil
}

// readSet reads a schema, of which every message has to be right.
func readSet(ctx context.Context, name string) (*schema.Set, error) {
	files, err := source.Read(ctx, name)
	if err != nil {
		return nil, brokenf("--schema: %w", err)
	}
	set, problems := schema.Build(files.All, files.Paths)
	if len(problems) > 0 {
		return nil, brokenf("--schema: %s", schema.Report(problems))
	}
	if !slices.ContainsFunc(set.Files, func(file *schema.File) bool { return len(file.Messages) > 0 }) {
		return nil, brokenf("--schema: %s has no message with option (idem.v1.message)", name)
	}
	return set, nil
}
