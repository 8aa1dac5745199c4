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
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/internal/operate/topics"
)

// planFlags are the flags of `idem topic plan`.
type planFlags struct {
	kafka             kafkaFlags
	output            string
	groups, produces  []string
	principal         string
	operator          string
	schema            string
	commandConfig     string
	partitions        int32
	replicas          int
	deadLetters       bool
	deadLettersKept   time.Duration
	offline, complain bool
}

func newTopicPlan(std streams) *cobra.Command {
	var flags planFlags
	command := &cobra.Command{
		Use:   "plan [TOPIC...] [--group GROUP...]",
		Short: "Print the topics and ACLs that a service needs",
		Long: `Prints the topics that a service reads, the retry topic of each for its group, TOPIC.retry.SCOPE, with --dead-letters
TOPIC.dlq.SCOPE, and the rights of --principal on them: as commands of Kafka, or as Terraform for the provider Mongey/kafka.
It changes nothing.

A topic keeps messages for twice the longest time that one is tried, which --schema knows, and for 7 days at least. A retry
topic takes messages that are larger than those of its topic, by the headers that are added.

Where brokers are named, it says what is missing or different there, and leaves out what is as planned. Partitions that are
added in place move keys: that command is a comment.`,
		Example: `  idem topic plan orders --group payments --principal User:payments --replicas 3
  idem topic plan orders --group payments=billing --produces payments --schema image.binpb --brokers kafka-1:9092
  idem topic plan orders --group payments --principal User:payments --output terraform >kafka.tf`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args) },
	}
	flags.kafka.add(command)
	f := command.Flags()
	f.StringVarP(&flags.output, "output", "o", "commands", "commands, terraform, or json, an object a line")
	f.StringSliceVar(&flags.groups, "group", nil, "a group that reads the topics, or GROUP=SCOPE")
	f.StringSliceVar(&flags.produces, "produces", nil, "a topic that the service writes to")
	f.StringVar(&flags.principal, "principal", "", "who the service is, as in User:payments; without it there are no ACLs")
	f.StringVar(&flags.operator, "operator", "", "who looks by idem lag and idem doctor, as in User:ops")
	f.StringVar(&flags.schema, "schema", "", "a directory of .proto files or an image, for the longest retries (default: those of the default policy)")
	f.StringVar(&flags.commandConfig, "command-config", "", "the file of properties that the commands are to use")
	f.Int32Var(&flags.partitions, "partitions", 12, "how many partitions a topic gets that is not there")
	f.IntVar(&flags.replicas, "replicas", 0, "how many replicas (default: the cluster's own; of Terraform 3)")
	f.BoolVar(&flags.deadLetters, "dead-letters", false, "dead letters go to topics")
	f.DurationVar(&flags.deadLettersKept, "dead-letter-retention", 30*24*time.Hour, "how long topics keep dead letters")
	f.BoolVar(&flags.offline, "offline", false, "ask no cluster")
	f.BoolVar(&flags.complain, "check", false, "exit code 1 where something is missing or different")
	offer(command, "output", "commands", "terraform", "json")
	return command
}

func (f *planFlags) run(ctx context.Context, std streams, names []string) error {
	service, err := f.service(ctx, names)
	if err != nil {
		return err
	}
	live, err := f.live(ctx, service)
	if err != nil {
		return err
	}
	if f.complain && live == nil {
		return errors.New("--check compares with a cluster: say --brokers or --context, and not --offline")
	}
	plan, err := service.Plan(live)
	if err != nil {
		return err
	}
	compared := plan.Compare(live)
	switch f.output {
	case "json":
		err = planLines(std.out, compared, f.tools())
	case "terraform":
		plan.Terraform(std.out)
	default:
		compared.Commands(std.out, f.tools())
	}
	if err != nil {
		return err
	}
	f.notes(std, service, compared)
	if f.complain && !compared.Done() {
		return failf("the cluster is not as planned")
	}
	return nil
}

func (f *planFlags) notes(std streams, service *topics.Service, compared *topics.Compared) {
	if kept, short := service.DedupRetention(); short {
		fmt.Fprintf(std.err, "note: topics keep messages for %s: have the store and the consumer keep dedup records for longer, as in Retention: %s\n", show.Age(service.Retention()), show.Age(kept))
	}
	if f.principal == "" {
		fmt.Fprintln(std.err, "note: no --principal, so no ACLs of the service")
	}
	if f.output != "terraform" {
		return
	}
	for _, t := range compared.Topics {
		if t.Status == topics.OK || t.Status == topics.Different {
			fmt.Fprintf(std.err, "note: topic %s is there: terraform import takes it over\n", t.Name)
		}
	}
}

// service reads the flags.
func (f *planFlags) service(ctx context.Context, names []string) (*topics.Service, error) {
	switch {
	case !slices.Contains([]string{"commands", "terraform", "json"}, f.output):
		return nil, fmt.Errorf("--output %s: it is commands, terraform or json", f.output)
	case len(names) == 0 && len(f.produces) == 0:
		return nil, errors.New("no TOPIC, and no --produces: name what the service reads or writes")
	case len(names) > 0 && len(f.groups) == 0:
		return nil, errors.New("no --group: name the group that reads the topics, or say --produces for what is written alone")
	case f.partitions < 1 || f.replicas < 0:
		return nil, errors.New("--partitions is at least 1, and --replicas at least 0")
	case f.deadLettersKept < time.Hour:
		return nil, fmt.Errorf("--dead-letter-retention %v: it is at least 1h", f.deadLettersKept)
	}
	s := &topics.Service{Topics: names, Produces: f.produces, Principal: f.principal, Operator: f.operator, DeadLetters: f.deadLetters,
		Partitions: f.partitions, Replicas: f.replicas, DeadLetterRetention: f.deadLettersKept}
	if f.output == "terraform" && s.Replicas == 0 {
		s.Replicas = 3 // the provider wants a number
	}
	for flag, principal := range map[string]string{"--principal": f.principal, "--operator": f.operator} {
		if kind, name, ok := strings.Cut(principal, ":"); principal != "" && (!ok || kind == "" || name == "") {
			return nil, fmt.Errorf("%s %s: it is TYPE:NAME, as in User:payments", flag, principal)
		}
	}
	for _, text := range f.groups {
		g, err := groupAndScope(text)
		if err != nil {
			return nil, err
		}
		s.Groups = append(s.Groups, g)
	}
	timing := doctor.NewTiming(0, 0, 0)
	if f.schema != "" {
		set, err := readSet(ctx, f.schema)
		if err != nil {
			return nil, err
		}
		timing.Schema(set)
	}
	s.Longest = timing.Retries
	return s, nil
}

func groupAndScope(text string) (topics.Group, error) {
	name, scope, other := strings.Cut(text, "=")
	if name == "" || other && scope == "" {
		return topics.Group{}, fmt.Errorf("--group %s: it is GROUP or GROUP=SCOPE", text)
	}
	if !other {
		scope = name
	}
	return topics.Group{Name: name, Scope: scope}, nil
}

// live is what the cluster has, where one is named.
func (f *planFlags) live(ctx context.Context, service *topics.Service) (*topics.Live, error) {
	if f.offline {
		return nil, nil
	}
	target, err := connect.Resolve(connect.Flags{Context: f.kafka.context, Brokers: f.kafka.brokers})
	if err != nil || len(target.Brokers) == 0 {
		return nil, err
	}
	f.kafka.brokers = target.Brokers
	wanted, err := service.Plan(nil)
	if err != nil {
		return nil, err
	}
	b, err := f.kafka.open(false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }()
	names := make([]string, len(wanted.Topics))
	for i, t := range wanted.Topics {
		names[i] = t.Name
	}
	live := &topics.Live{}
	if live.Topics, _, err = b.DescribeTopics(ctx, names...); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, brokenf("%w", err)
	}
	if len(wanted.ACLs) > 0 {
		live.ACLs, live.NoACLs = b.ACLs(ctx)
	}
	return live, ctx.Err()
}

func (f *planFlags) tools() topics.Tools {
	return topics.Tools{Brokers: strings.Join(f.kafka.brokers, ","), Config: f.commandConfig}
}
