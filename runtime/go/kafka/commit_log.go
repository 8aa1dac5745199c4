package kafka

import (
	"context"
	"fmt"
	"math"
	"time"
	"unicode/utf16"

	"github.com/segmentio/kafka-go"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// commitTopic is where Kafka keeps what groups commit.
const commitTopic = "__consumer_offsets"

// maxCommitRecords is how many records are read of one of its partitions: of more, the last ones.
const maxCommitRecords = 500_000

// CommitLog is what a group has committed lately.
type CommitLog struct {
	// From is since when it is whole: a partition without a commit in it has had none since. Before its first
	// commit in the log a partition is unknown.
	From time.Time
	// Commits of each partition are in order. Those of a transaction that was aborted are among them.
	Commits map[broker.TopicPartition][]Commit
}

// CommitLogs reads what the groups have committed since a time from Kafka's own topic of commits, which takes the
// rights DESCRIBE and READ on __consumer_offsets.
func (b *Broker) CommitLogs(ctx context.Context, groups []string, since time.Time) (map[string]*CommitLog, error) {
	logs, err := b.commitLogs(ctx, groups, since)
	if err != nil {
		return nil, fmt.Errorf("read commits in %s: %w", commitTopic, b.explain(err))
	}
	return logs, nil
}

func (b *Broker) commitLogs(ctx context.Context, groups []string, since time.Time) (map[string]*CommitLog, error) {
	counts, err := b.partitions(ctx, []string{commitTopic}, patience{0, b.config.RequestTimeout})
	if err != nil {
		return nil, err
	}
	logs := map[string]*CommitLog{}
	readers := map[int32]*commitReader{}
	for _, group := range groups {
		p := partitionOfGroup(group, counts[commitTopic])
		if readers[p] == nil {
			readers[p] = &commitReader{at: broker.TopicPartition{Topic: commitTopic, Partition: p}, groups: map[string]history{}}
		}
		readers[p].groups[group] = history{}
	}
	for _, r := range readers {
		from, err := r.readAgain(ctx, b, since)
		if err != nil {
			return nil, err
		}
		for group, h := range r.groups {
			logs[group] = &CommitLog{From: from, Commits: h}
		}
	}
	return logs, nil
}

// partitionOfGroup is where the group's coordinator keeps its commits, as Kafka's Utils.abs has it: by the size of
// Java's hash of the name, which is of UTF-16, and the least int is 0.
func partitionOfGroup(group string, partitions int32) int32 {
	hash := int32(0)
	for _, unit := range utf16.Encode([]rune(group)) {
		hash = 31*hash + int32(unit)
	}
	if hash == math.MinInt32 {
		return 0
	}
	return max(hash, -hash) % partitions
}

// history are the commits of a group.
type history map[broker.TopicPartition][]Commit

// forget drops what cannot be relied on before a gap that compaction has made: it leaves of each partition the last
// commit, which held from then on, and removes those before it.
func (h history) forget() {
	for at, list := range h {
		h[at] = list[len(list)-1:]
	}
}

// commitReader reads a partition of the topic of commits.
type commitReader struct {
	at     broker.TopicPartition
	groups map[string]history
}

// commitTries is how often reading begins anew where a leader moves or goes away. There is no limit to the time: each
// request has its own.
const commitTries = 5

func (r *commitReader) readAgain(ctx context.Context, b *Broker, since time.Time) (from time.Time, err error) {
	for try := range commitTries {
		for group := range r.groups {
			r.groups[group] = history{}
		}
		from, err = r.read(ctx, b, since)
		if err == nil || hopeless(err) || ctx.Err() != nil {
			break
		}
		b.refresh()
		if !wait.For(ctx, backoff(try)) {
			break
		}
	}
	if err != nil {
		err = ended(ctx, err)
	}
	return from, err
}

// read goes through the records since a time, and says since when there are all.
func (r *commitReader) read(ctx context.Context, b *Broker, since time.Time) (time.Time, error) {
	l, err := b.dialLeader(ctx, r.at)
	if err != nil {
		return since, err
	}
	defer l.close()
	defer context.AfterFunc(ctx, l.close)()
	start, err := l.offset(since.UnixMilli())
	if err != nil || start < 0 { // nobody has committed anything since
		return since, err
	}
	end, err := l.offset(kafka.LastOffset)
	if err != nil {
		return since, err
	}
	cut := end-start > maxCommitRecords
	if cut {
		start = end - maxCommitRecords
	}
	for offset := start; offset < end; {
		f, err := l.fetch(offset, 4<<20)
		if err != nil {
			return since, err
		}
		if cut && len(f.messages) > 0 {
			since, cut = f.messages[0].Time, false
		}
		r.take(f)
		if f.next == offset {
			if !f.records {
				break
			}
			f.next++ // a batch that compaction has emptied
		}
		offset = f.next
	}
	return since, nil
}

func (r *commitReader) take(f fetched) {
	gap := f.gap
	for _, m := range f.messages {
		if gap > 0 && m.Offset >= gap {
			r.forget()
			gap = 0
		}
		group, c, ok := commitOf(m.Key, m.Value, m.Time)
		if h := r.groups[group]; ok && h != nil {
			h[c.TopicPartition] = append(h[c.TopicPartition], c)
		}
	}
	if gap > 0 {
		r.forget()
	}
}

func (r *commitReader) forget() {
	for _, h := range r.groups {
		h.forget()
	}
}
