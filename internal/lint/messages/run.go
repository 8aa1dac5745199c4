package messages

import (
	"context"
	"errors"
	"time"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages/decode"
	"github.com/idem-spec/idem/internal/lint/messages/input"
	"github.com/idem-spec/idem/internal/schema"
)

// Options say how messages are read and judged.
type Options struct {
	// Set is the schema, and Type the message of those whose headers do not say; nil for none.
	Set  *schema.Set
	Type *schema.Message
	// Format is how payloads hold messages.
	Format Format
	// MaxPayload is the most bytes that a payload is to have, and Partitions how many partitions the topic
	// has where the messages do not say, 0 for not known.
	MaxPayload int
	Partitions int32
	// Memory is about how many bytes of memory keys take before they go to a file in TempDir, "" for the
	// system's place.
	Memory  int64
	TempDir string
	// Wanted says which rules run.
	Wanted func(*lint.Rule) bool
	// Report gets the findings with the number of their message in the run: those of each message in their
	// order, and those of two messages when the second is met, which is at the end for keys that went to disk.
	Report func(message uint64, f lint.Finding) error
	// Progress is told now and then how far the run is. It may be nil.
	Progress func(Summary)
	// Now is the time; nil is time.Now.
	Now func() time.Time
	// Workers is how many goroutines check messages; 0 is one for each processor.
	Workers int
	// Endless says that the end of ctx is the end of the messages.
	Endless bool
}

// The defaults of Options.
const (
	// DefaultMaxPayload is what Kafka takes by default, less the overhead of a record of one message.
	DefaultMaxPayload = 1048576
	DefaultMemory     = 256 << 20
)

// MinMemory is the least Memory that is of use: with less, nearly all time goes into files of a few keys each.
const MinMemory = 1 << 20

// Summary is what is known of all messages.
type Summary struct {
	Messages, Bytes int64
	// Untyped are the messages whose type is not known.
	Untyped int64
	// Unparsed are the lines that are no message, of which nothing else is known.
	Unparsed int64
	// Keys are the distinct idempotency keys, and Duplicates the messages whose key was there before.
	Keys, Duplicates int64
	// Conflicting are the duplicates with another fingerprint than the first, and Regenerated the copies of
	// an event with another key.
	Conflicting, Regenerated int64
	// Unreported are findings of two messages that are not reported, since there are too many to be put into
	// their order: those behind the first 50,000 or more.
	Unreported int64
	// Spilled is how many bytes of keys went to disk.
	Spilled int64
}

// checker is what all goroutines of a run share, and none changes.
type checker struct {
	options *Options
	// rules are those to run by what a message has.
	rules     [1 << needs][]*rule
	events    map[string]*event
	names     []string
	throttles map[string]bool
	fallback  *event
}

// Run checks the messages of a reader. Where that fails, what was read before is reported, and the summary is of it.
func Run(ctx context.Context, reader input.Reader, o Options) (Summary, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := newCollector(&o)
	defer func() { _ = c.table.Close() }()
	err := c.collect(ctx, newChecker(&o), reader)
	ended := err == nil || o.Endless && ctx.Err() != nil
	if !ended && c.unread == nil {
		return c.summary, err
	}
	summary, failed := c.finish()
	if !ended {
		return summary, errors.Join(err, failed)
	}
	return summary, failed
}

func newChecker(o *Options) *checker {
	c := &checker{options: o, events: map[string]*event{}, throttles: map[string]bool{}}
	for _, topic := range topics {
		for _, r := range topic {
			if r.check != nil && o.Wanted(&r.Rule) {
				c.add(r)
			}
		}
	}
	for _, f := range o.Set.Files {
		for _, m := range f.Messages {
			c.events[m.EventType] = newEvent(o.Set, m)
			c.names = append(c.names, m.EventType)
		}
		for _, e := range f.Enums {
			for _, v := range e.Outcomes {
				if v.Outcome == "THROTTLED" {
					c.throttles[string(v.Value.Name())] = true
				}
			}
		}
	}
	if o.Type != nil {
		c.fallback = c.events[o.Type.EventType]
	}
	return c
}

// add adds a rule for all messages that have what it needs.
func (c *checker) add(r *rule) {
	for has := range c.rules {
		if r.needs&^need(has) == 0 {
			c.rules[has] = append(c.rules[has], r)
		}
	}
}

func newEvent(set *schema.Set, m *schema.Message) *event {
	e := &event{Message: m, plan: decode.Compile(set, m), states: statesOf(m.Transition), policy: policyOf(m), place: placeOf(m.Desc)}
	e.expects = expected(e)
	e.templates = [texts]*decode.Template{ofKey: e.plan.Key, ofPrevious: e.plan.Previous, ofBizKey: e.plan.BizKey, ofFingerprint: e.plan.Fingerprint}
	return e
}
