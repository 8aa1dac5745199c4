package lag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// Looker looks at groups, once or again and again. It remembers what it saw.
type Looker struct {
	Broker *kafka.Broker
	// Groups are those of interest; all that there are where it is empty.
	Groups []string
	// Topics are those of interest; all that the groups read where it is empty.
	Topics []string
	// Since is how far to look back.
	Since time.Duration
	// Window is over which time a trend is told.
	Window time.Duration
	// Stuck is how long a partition may stay where it is with something to do.
	Stuck time.Duration
	// Measure is how long to measure where Kafka does not tell of the past; 0 for not at all.
	Measure time.Duration
	// Measuring is told before that, where it is not nil.
	Measuring func(why string)

	tracks map[place]*track
	mu     sync.Mutex // of notes and read
	notes  []string
	read   map[string]bool // topics that the groups read
}

// place is a partition for a group.
type place struct {
	group string
	broker.TopicPartition
}

// The errors of a look that are an answer.
var (
	ErrNoGroup = errors.New("no such group")
	ErrNoTopic = errors.New("no group reads it")
)

// atOnce is how many requests there are at a time.
const atOnce = 8

// Look looks at the groups now; at the first time into the past too.
func (l *Looker) Look(ctx context.Context) (*Report, error) {
	groups, err := l.groups(ctx)
	if err != nil {
		return nil, err
	}
	first := l.tracks == nil
	if first {
		l.tracks = map[place]*track{}
		if err := l.history(ctx, groups, time.Now()); err != nil {
			return nil, err
		}
	}
	now, err := l.see(ctx, groups)
	if err != nil {
		return nil, err
	}
	if why := l.unknown(groups); first && why != "" && l.Measure > 0 {
		if l.Measuring != nil {
			l.Measuring(why)
		}
		if now, err = l.measure(ctx, groups); err != nil {
			return nil, err
		}
	}
	if err := l.oldest(ctx, groups); err != nil {
		return nil, err
	}
	for i := range groups {
		for j := range groups[i].Partitions {
			p := &groups[i].Partitions[j]
			p.Trend = trendOf(l.track(groups[i].Name, p), l.Window)
		}
		groups[i].find(now, l.Stuck)
	}
	return &Report{At: now, Groups: groups, Notes: l.notes}, nil
}

func (l *Looker) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(l.notes, text) {
		l.notes = append(l.notes, text)
	}
}

func (l *Looker) track(group string, p *Partition) *track {
	at := place{group, p.TopicPartition}
	if l.tracks[at] == nil {
		l.tracks[at] = &track{}
	}
	return l.tracks[at]
}

// see looks where partitions end and groups go on, and remembers it.
func (l *Looker) see(ctx context.Context, groups []Group) (time.Time, error) {
	bounds, err := l.bounds(ctx, groups)
	if err != nil {
		return time.Time{}, err
	}
	now := time.Now()
	for i := range groups {
		for j := range groups[i].Partitions {
			p := &groups[i].Partitions[j]
			b := bounds[p.TopicPartition]
			p.First, p.End = b.From, b.To
			p.Lag = max(p.End-p.next(), 0)
			l.track(groups[i].Name, p).look(now, p.End, p.next(), now.Add(-l.Since))
		}
	}
	return now, nil
}

func all(*Partition) bool { return true }

// partitionsOf are those of the groups' partitions that are wanted, each once.
func partitionsOf(groups []Group, want func(*Partition) bool) []broker.TopicPartition {
	seen := map[broker.TopicPartition]bool{}
	var partitions []broker.TopicPartition
	for i := range groups {
		for j := range groups[i].Partitions {
			p := &groups[i].Partitions[j]
			if !seen[p.TopicPartition] && want(p) {
				seen[p.TopicPartition] = true
				partitions = append(partitions, p.TopicPartition)
			}
		}
	}
	return partitions
}

// oldest finds out from when the first message is that is not done.
func (l *Looker) oldest(ctx context.Context, groups []Group) error {
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	for i := range groups {
		for j := range groups[i].Partitions {
			p := &groups[i].Partitions[j]
			if p.Lag == 0 {
				continue
			}
			work.Go(func() error {
				if err := l.oldestOf(inner, p); err != nil && ctx.Err() == nil {
					l.note("ages of %s are not known: %v", p.Topic, err)
				}
				return ctx.Err()
			})
		}
	}
	return work.Wait()
}

// oldestOf reads on until there is a message. Where there is none up to the end, the offsets are those of transactions,
// which were aborted, and their markers: nothing waits.
func (l *Looker) oldestOf(ctx context.Context, p *Partition) error {
	const mostReads = 20
	offset := p.next()
	for range mostReads {
		batch, next, err := l.Broker.Scan(ctx, p.TopicPartition, offset, 1)
		switch {
		case err != nil:
			return err
		case len(batch.Messages) > 0:
			p.Oldest = batch.Messages[0].Time
			return nil
		case next >= p.End:
			p.Lag = 0
			return nil
		case next <= offset: // a transaction is open
			return nil
		}
		offset = next
	}
	return nil
}
