package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// traceFlags are the flags of `idem trace`.
type traceFlags struct {
	operateFlags
	kafka       kafkaFlags
	topics      []string
	since       string
	bizKey      string
	maxMessages int64
}

func newTrace(std streams) *cobra.Command {
	var flags traceFlags
	command := &cobra.Command{
		Use:   "trace KEY",
		Short: "Show the life of a key across services: produced, claimed, failed, retried, done",
		Long: `Shows what each store knows of an idempotency key, in the order of time: its record in each scope, deliveries to come,
dead letters, rows of the outbox, and what operators did to it. A record has no history: its first claim and its state
now are shown. Of the outbox the newest 20,000 rows are looked at, and of the log of operations 2,000.

With --topic the messages with that key on Kafka, too: the topic is read, for no group, and so are its retry and
dead-letter topics of the scopes that the stores know. A topic has no index of keys: all messages of the time since
--since are read, of all partitions, or with --biz-key of the one that the biz key belongs to, and at most
--max-messages. The exit code is 1 where nothing is known of the key.

` + placeHelp,
		Example: `  idem trace 'payments.succeeded:v1:p-1' --context prod
  idem trace 'payments.succeeded:v1:p-1' --context prod --topic shop.payments --since 2h
  idem trace 'payments.succeeded:v1:p-1' --topic shop.payments --biz-key o-1 --output json`,
		Args:              exactly("KEY"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return flags.run(cmd.Context(), std, args[0]) },
	}
	flags.operateFlags.add(command)
	flags.kafka.addServer(command, "brokers")
	f := command.Flags()
	f.StringSliceVar(&flags.topics, "topic", nil, "a topic of Kafka to look through; may come several times")
	f.StringVar(&flags.since, "since", "24h", "messages of --topic since, as RFC 3339 or how long ago: 2h, 7d")
	f.StringVar(&flags.bizKey, "biz-key", "", "look through the partition of this biz key alone")
	f.Int64Var(&flags.maxMessages, "max-messages", 1_000_000, "read at most so many messages")
	return command
}

func (f *traceFlags) check() error {
	switch {
	case len(f.topics) == 0 && f.bizKey != "":
		return errors.New("--biz-key says which partition of --topic is looked through: name a topic")
	case f.maxMessages < 1:
		return fmt.Errorf("--max-messages %d: it is at least 1", f.maxMessages)
	}
	return nil
}

func (f *traceFlags) run(ctx context.Context, std streams, key string) error {
	if err := f.check(); err != nil {
		return err
	}
	since, err := moment("--since", f.since, time.Now())
	if err != nil {
		return err
	}
	stores, closeAll, err := f.openStores(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	life := &lifeOf{key: key, records: map[string]*store.Record{}}
	for _, s := range stores {
		if err := life.readStore(ctx, s); err != nil {
			return unreached(ctx, err, s.DSN)
		}
	}
	if len(f.topics) > 0 {
		if err := f.readTopics(ctx, std, life, since); err != nil {
			return err
		}
	}
	life.addTopicRedrives()
	slices.SortStableFunc(life.events, func(a, b lifeEvent) int { return a.At.Compare(b.At) })
	life.comparePayloads()
	if len(life.events) == 0 {
		if rows := rowsOf(ctx, stores, key); len(rows) > 0 {
			return failf("nothing is known of a key %s: %s", key, strings.Join(rows, "; "))
		}
		return failf("nothing is known of %s: it is new, older than the retention, or of another store%s%s%s", show.Text(key), life.where(f.topics), cutKey(key), noKey(key))
	}
	if f.json() {
		for i := range life.events {
			if err := show.Line(std.out, &life.events[i]); err != nil {
				return err
			}
		}
		return nil
	}
	life.table(std.out)
	return nil
}

// openStores opens the stores; with --topic there need not be any.
func (f *traceFlags) openStores(ctx context.Context) ([]*connect.Store, func(), error) {
	stores, closeAll, err := f.openAll(ctx)
	if errors.Is(err, connect.ErrNoStore) && len(f.topics) > 0 {
		return nil, func() {}, nil
	}
	return stores, closeAll, err
}

// where says what else there is to look through.
func (f *lifeOf) where(topics []string) string {
	if len(topics) == 0 {
		return "; --topic looks through Kafka, too"
	}
	return ", topic or time: --since says from when on messages are read"
}
