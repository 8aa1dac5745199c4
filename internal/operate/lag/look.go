package lag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	mu     sync.Mutex // of notes
	notes  []string
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
	if why := l.unknown(groups, now); first && why != "" && l.Measure > 0 {
		if l.Measuring != nil {
			l.Measuring(why)
		}
		if now, err = l.measure(ctx, groups); err != nil {
			return nil, err
		}
	}
	if err := l.ages(ctx, groups); err != nil {
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

// groups describes them, with the partitions that are of interest.
func (l *Looker) groups(ctx context.Context) ([]Group, error) {
	names := l.Groups
	if len(names) == 0 {
		var err error
		if names, err = l.Broker.GroupNames(ctx); err != nil {
			return nil, err
		}
	}
	found := make([]*Group, len(names))
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	for i, name := range names {
		work.Go(func() error {
			g, err := l.group(inner, name)
			if err != nil && len(l.Groups) == 0 && inner.Err() == nil {
				l.note("%v", err) // of others, who need not let us see it
				return nil
			}
			found[i] = g
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	var groups []Group
	for _, g := range found {
		if g != nil && (len(g.Partitions) > 0 || len(l.Groups) > 0) {
			groups = append(groups, *g)
		}
	}
	return groups, l.checkTopics(groups)
}

// checkTopics says where a topic was asked for that no group reads.
func (l *Looker) checkTopics(groups []Group) error {
	for _, topic := range l.Topics {
		if !slices.ContainsFunc(groups, func(g Group) bool { return len(g.of(topic)) > 0 }) {
			return fmt.Errorf("topic %s: %w: look at its name; `idem lag` without --topic shows those that there are", topic, ErrNoTopic)
		}
	}
	return nil
}

func (l *Looker) group(ctx context.Context, name string) (*Group, error) {
	d, err := l.Broker.DescribeGroup(ctx, name)
	if err != nil {
		return nil, err
	}
	committed, err := l.Broker.Committed(ctx, name)
	if err != nil {
		return nil, err
	}
	g := &Group{Name: name, State: d.State, Members: d.Members}
	slices.SortFunc(g.Members, func(a, b kafka.GroupMember) int { return cmp.Compare(a.ID, b.ID) })
	if d.State == "Dead" {
		if len(committed) == 0 {
			if len(l.Groups) == 0 {
				return nil, nil // it went while we looked
			}
			return nil, fmt.Errorf("group %s: %w: look at its name; `idem lag` without --group shows those that there are", name, ErrNoGroup)
		}
		g.Hidden = true
		l.note("group %s: its members cannot be seen, since it is of the protocol that Kafka 4 has added (group.protocol=consumer): kafka-consumer-groups --describe --members shows them", name)
	}
	topics := map[string]bool{}
	for at := range committed {
		topics[at.Topic] = true
	}
	owners := map[broker.TopicPartition]*kafka.GroupMember{}
	for i := range g.Members {
		m := &g.Members[i]
		for _, t := range m.Topics {
			topics[t] = true
		}
		for _, at := range m.Partitions {
			topics[at.Topic], owners[at] = true, m
		}
	}
	counts, err := l.counts(ctx, slices.Sorted(maps.Keys(topics)))
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", name, err)
	}
	for _, topic := range slices.Sorted(maps.Keys(counts)) {
		for id := range counts[topic] {
			at := broker.TopicPartition{Topic: topic, Partition: id}
			p := Partition{TopicPartition: at, Committed: -1, Owner: owners[at]}
			if offset, ok := committed[at]; ok {
				p.Committed = offset
			}
			g.Partitions = append(g.Partitions, p)
		}
	}
	return g, nil
}

// counts are the partitions of the topics that are of interest and that there are.
func (l *Looker) counts(ctx context.Context, topics []string) (map[string]int32, error) {
	if len(l.Topics) > 0 {
		topics = slices.DeleteFunc(topics, func(t string) bool { return !slices.Contains(l.Topics, t) })
	}
	if len(topics) == 0 {
		return nil, nil
	}
	counts, err := l.Broker.Partitions(ctx, topics...)
	if !errors.Is(err, broker.ErrUnknownTopic) {
		return counts, err
	}
	described, _, err := l.Broker.DescribeTopics(ctx, topics...)
	if err != nil {
		return nil, err
	}
	counts = map[string]int32{}
	for _, d := range described {
		counts[d.Name] = int32(len(d.Partitions))
	}
	return counts, nil
}

// see looks where partitions end and groups go on, and remembers it.
func (l *Looker) see(ctx context.Context, groups []Group) (time.Time, error) {
	bounds, err := l.Broker.Bounds(ctx, partitionsOf(groups, all))
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

// unknown says why there is no trend of a partition that is behind; empty where there is one of each.
func (l *Looker) unknown(groups []Group, now time.Time) string {
	for i := range groups {
		for j := range groups[i].Partitions {
			p := &groups[i].Partitions[j]
			if p.Lag > 0 && trendOf(l.track(groups[i].Name, p), l.Window).Slope == "" {
				return fmt.Sprintf("of %s/%d group %s has no commits that tell of the time before now", p.Topic, p.Partition, groups[i].Name)
			}
		}
	}
	return ""
}

// measure looks again for a while.
func (l *Looker) measure(ctx context.Context, groups []Group) (time.Time, error) {
	end := time.Now().Add(l.Measure)
	for {
		select {
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		case <-time.After(min(max(l.Measure/10, 100*time.Millisecond), time.Second)):
		}
		work, inner := errgroup.WithContext(ctx)
		work.SetLimit(atOnce)
		for i := range groups {
			work.Go(func() error {
				committed, err := l.Broker.Committed(inner, groups[i].Name)
				for j := range groups[i].Partitions {
					p := &groups[i].Partitions[j]
					if offset, ok := committed[p.TopicPartition]; ok {
						p.Committed = offset
					}
				}
				return err
			})
		}
		if err := work.Wait(); err != nil {
			return time.Time{}, err
		}
		now, err := l.see(ctx, groups)
		if err != nil || now.After(end) {
			return now, err
		}
	}
}

// ages finds out how old the first message is that is not done.
func (l *Looker) ages(ctx context.Context, groups []Group) error {
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	for i := range groups {
		for j := range groups[i].Partitions {
			p := &groups[i].Partitions[j]
			if p.Lag == 0 {
				continue
			}
			work.Go(func() error {
				batch, _, err := l.Broker.Scan(inner, p.TopicPartition, p.next(), 1)
				switch {
				case err == nil && len(batch.Messages) > 0:
					p.Oldest = batch.Messages[0].Time
				case err != nil && ctx.Err() == nil:
					l.note("ages of %s are not known: %v", p.Topic, err)
				}
				return ctx.Err()
			})
		}
	}
	return work.Wait()
}

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
	bounds, err := l.Broker.Bounds(ctx, partitionsOf(groups, all))
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
				return err
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
	for i := range steps {
		ask(behind, now.Add(-l.Since*time.Duration(i+1)/steps))
	}
	return work.Wait()
}
