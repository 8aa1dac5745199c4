package lag

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// steps is into how many the past is cut.
const steps = 30

// manyPartitions are too many to ask of each where it ended at all times past.
const manyPartitions = 300

// history reads the past. Where Kafka does not let us, there is a note.
func (l *Looker) history(ctx context.Context, groups []Group, now time.Time) error {
	names := make([]string, len(groups))
	for i := range groups {
		names[i] = groups[i].Name
	}
	if len(partitionsOf(groups, all)) == 0 {
		return nil
	}
	since := now.Add(-l.Since)
	logs, err := l.Broker.CommitLogs(ctx, names, since)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.note("the past is not known, only what is seen from now on: %v", err)
		return nil
	}
	bounds, err := l.bounds(ctx, groups)
	if err != nil {
		return err
	}
	for i := range groups {
		log := logs[groups[i].Name]
		if log.From.After(since) {
			l.note("group %s: there are too many commits to read those before %s", groups[i].Name, clock(log.From))
		}
		for j := range groups[i].Partitions {
			p := &groups[i].Partitions[j]
			p.First, p.End = bounds[p.TopicPartition].From, bounds[p.TopicPartition].To
			l.track(groups[i].Name, p).commitsFrom(log.From, log.Commits[p.TopicPartition], p.next())
		}
	}
	return l.pastEnds(ctx, groups, now, bounds)
}

// pastEnds asks where the partitions ended: of many partitions only at the window's start, but for those that are
// behind.
func (l *Looker) pastEnds(ctx context.Context, groups []Group, now time.Time, bounds map[broker.TopicPartition]kafka.Span) error {
	every := partitionsOf(groups, all)
	behind := every
	if len(every) > manyPartitions {
		behind = partitionsOf(groups, func(p *Partition) bool { return p.End > p.next() })
		behind = behind[:min(len(behind), manyPartitions)]
	}
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	var mu sync.Mutex
	ask := func(partitions []broker.TopicPartition, at time.Time) {
		work.Go(func() error {
			ends, err := l.Broker.EndsAt(inner, partitions, at)
			if err != nil {
				if ctx.Err() == nil {
					l.note("a part of the past is not known: %v", err)
				}
				return ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			for _, p := range partitions {
				end, ok := ends[p]
				if !ok {
					end = bounds[p].To
				}
				for i := range groups {
					if t := l.tracks[place{groups[i].Name, p}]; t != nil {
						t.endsAt(at, end)
					}
				}
			}
			return nil
		})
	}
	ask(every, now.Add(-l.Window))
	ask(behind, now.Add(-l.Window/latelyPart))
	for _, at := range samples(now, l.Since) {
		ask(behind, at)
	}
	return work.Wait()
}

// samples are the times past of which the ends are asked: in even steps, and at less than a few steps more and more closely,
// for what has begun a moment ago. They are multiples of the steps, so that a later look is at the same times, and tells
// the same of them.
func samples(now time.Time, since time.Duration) (times []time.Time) {
	finest, halves := since/steps, 0
	for ; finest/2 >= time.Second; halves++ {
		finest /= 2
	}
	step := finest << halves
	for at := now.Truncate(step); now.Sub(at) <= since; at = at.Add(-step) {
		times = append(times, at)
	}
	for range halves {
		step /= 2
		for i := range 3 {
			if at := now.Truncate(step).Add(-step * time.Duration(i)); !at.Truncate(2 * step).Equal(at) { // else it is one already
				times = append(times, at)
			}
		}
	}
	return times
}
