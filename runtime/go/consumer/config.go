package consumer

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// Config is what a Consumer is made of. Group and Topics are needed; all else has a default.
type Config struct {
	// Group is the consumer group whose offsets it commits.
	Group string
	// Scope is who shares dedup records with whom, 1 to 200 of [A-Za-z0-9._-]. Default: Group. Another one, such
	// as "payments-2", is a deliberate replay. (DEDUP-010)
	Scope string
	// Topics are the origin topics. Their retry topics, <topic>.retry.<scope>, are read too, and have to exist.
	Topics []string
	// Ignore are event types that are on the topics and no business of this consumer: they are acknowledged. One
	// that is neither handled nor ignored is dead-lettered. (CONS-006)
	Ignore []string
	// Shadow makes every route a Route.Shadow, and Group and Scope those of a shadow, "<group>.shadow": offsets and
	// records of the group that acts are not touched. Then no retry topics are read.
	Shadow bool

	// Workers is how many handlers run at a time. Default: 16.
	Workers int
	// Window is the most messages of one partition from the oldest that is not settled to the last that was
	// fetched, and WindowBytes the most bytes of those that are not settled, over all partitions, each of which has
	// its share. Fetching pauses where there is no room. Default: 8192, and 64 MiB. (CONS-004)
	Window      int
	WindowBytes int64
	// FetchBytes is the most that one fetch brings. Default: 1 MiB.
	FetchBytes int
	// Batch is the most deliveries that one call to the store claims or settles. Default: 500.
	Batch int
	// Gather is how long a claim waits for more deliveries to go with it. Default: 0, which does not wait: what
	// comes while one call is on its way goes with the next.
	Gather time.Duration
	// CommitInterval is how often offsets are committed. Default: 1 s. What a crash leaves uncommitted is delivered
	// again, and is a duplicate.
	CommitInterval time.Duration
	// RebalanceTimeout is how long handlers may go on when the group rebalances, before their contexts end. It has
	// to be below the broker's own. Default: 5 s.
	RebalanceTimeout time.Duration
	// DrainTimeout is the same at the end of Run. Default: 20 s.
	DrainTimeout time.Duration

	// Guard has the settings of deliveries: Retention, Limits, Lease, HandlerTimeout, DeadLetterTopic, Delays,
	// NoDeliveryLog. Its Scope, Observer and Log are the consumer's, and so is its Publisher where it is nil.
	Guard guard.Config
	// NoScheduler leaves the scheduler of msg_retry to others, and NoCleaner the removal of records that have
	// expired. By default each consumer runs both, where the store has the tables; any number may. Some consumer
	// of each store has to.
	NoScheduler, NoCleaner bool
	// NoAudit leaves out the counts of what became of deliveries, for `idem audit`. By default a consumer adds them up,
	// where the store has the table, and writes them every ten seconds and at the end of Run. (CONS-040)
	NoAudit bool
	// Background are further tasks that run as long as Run does: a relay of the outbox, for one. One that returns
	// before its context ends is begun again, after a pause.
	Background []func(ctx context.Context) error

	Observer observe.Observer // nil: none
	Log      *slog.Logger     // nil: slog.Default()
}

// The bounds that a mistake passes.
const (
	maxWorkers = 10000
	maxBatch   = 10000
)

func (c Config) withDefaults() (Config, error) {
	for _, n := range []struct {
		name   string
		value  *int
		preset int
		most   int
	}{
		{"Workers", &c.Workers, 16, maxWorkers},
		{"Window", &c.Window, 8192, 1 << 24},
		{"FetchBytes", &c.FetchBytes, 1 << 20, 1 << 30},
		{"Batch", &c.Batch, 500, maxBatch},
	} {
		if *n.value == 0 {
			*n.value = n.preset
		}
		if *n.value < 1 || *n.value > n.most {
			return c, fmt.Errorf("%s is %d: give 1 to %d, or 0 for %d", n.name, *n.value, n.most, n.preset)
		}
	}
	for _, d := range []struct {
		name   string
		value  *time.Duration
		preset time.Duration
	}{
		{"Gather", &c.Gather, 0},
		{"CommitInterval", &c.CommitInterval, time.Second},
		{"RebalanceTimeout", &c.RebalanceTimeout, 5 * time.Second},
		{"DrainTimeout", &c.DrainTimeout, 20 * time.Second},
	} {
		if *d.value < 0 {
			return c, fmt.Errorf("%s is %v: give a time above 0, or 0 for %v", d.name, *d.value, d.preset)
		}
		if *d.value == 0 {
			*d.value = d.preset
		}
	}
	if c.WindowBytes == 0 {
		c.WindowBytes = 64 << 20
	}
	if c.WindowBytes < 0 {
		return c, fmt.Errorf("WindowBytes is %d: give a size above 0, or 0 for 64 MiB", c.WindowBytes)
	}
	if c.Group == "" {
		return c, fmt.Errorf("Group is empty: name the consumer group")
	}
	if c.Scope == "" {
		c.Scope = c.Group
	}
	if c.Shadow {
		c.Group, c.Scope = c.Group+".shadow", c.Scope+".shadow"
	}
	if c.Observer == nil {
		c.Observer = observe.None{}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.Guard.Scope, c.Guard.Observer, c.Guard.Log = c.Scope, c.Observer, c.Log
	return c, nil
}

// originOf is the place among Topics of the origin of a topic.
func (c *Config) originOf(topic string) int32 {
	if origin, ok := broker.OriginOf(topic, c.Scope); ok {
		topic = origin
	}
	return int32(slices.Index(c.Topics, topic))
}

func (c *Config) checkTopics() error {
	if len(c.Topics) == 0 {
		return fmt.Errorf("Topics is empty: name the topics to read")
	}
	seen := make(map[string]bool, len(c.Topics))
	for _, topic := range c.Topics {
		if topic == "" || seen[topic] {
			return fmt.Errorf("Topics has %q: name each topic once", topic)
		}
		seen[topic] = true
		if origin, ok := broker.OriginOf(topic, c.Scope); ok {
			return fmt.Errorf("Topics has %q, which is the retry topic of %q: name the origin, its retry topic is read too", topic, origin)
		}
		if err := broker.CheckTopic(broker.RetryTopic(topic, c.Scope)); err != nil {
			return err
		}
	}
	return nil
}
