package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// logStart is the time of the messages of offset 0, a day before a bubble of synctest begins.
var logStart = time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)

// logs are a topic's partitions in memory. A read at the end waits as Kafka does.
type logs struct {
	mu         sync.Mutex
	partitions [][]string
	ends       []int64 // of the spans
	fails      error   // of a read at offset 2
}

func (l *logs) Partitions(context.Context, ...string) (map[string]int32, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return map[string]int32{"t": int32(len(l.partitions))}, nil
}

// add adds a partition to the topic.
func (l *logs) add(messages ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partitions, l.ends = append(l.partitions, messages), append(l.ends, int64(len(messages)))
}

func (l *logs) Spans(_ context.Context, topic string, _, _ time.Time) ([]kafka.Span, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var spans []kafka.Span
	for p, end := range l.ends {
		spans = append(spans, kafka.Span{TopicPartition: broker.TopicPartition{Topic: topic, Partition: int32(p)}, To: end})
	}
	return spans, nil
}

func (l *logs) Scan(ctx context.Context, at broker.TopicPartition, offset int64, _ int) (broker.Batch, int64, error) {
	if l.fails != nil && offset == 2 {
		return broker.Batch{}, offset, l.fails
	}
	l.mu.Lock()
	all := l.partitions[at.Partition]
	l.mu.Unlock()
	batch := broker.Batch{End: int64(len(all))}
	if offset >= int64(len(all)) {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return batch, offset, ctx.Err()
		}
		return batch, offset, nil
	}
	for i := offset; i < min(offset+2, int64(len(all))); i++ {
		batch.Messages = append(batch.Messages, broker.Message{Topic: at.Topic, Partition: at.Partition, Offset: i, Value: []byte(all[i]), Time: logStart.Add(time.Duration(i) * time.Second)})
	}
	return batch, offset + int64(len(batch.Messages)), nil
}

// names are messages as "place value".
func names(t *testing.T, b *Batch) []string {
	t.Helper()
	var all []string
	var m Message
	for i := range b.Items {
		require.NoError(t, b.Parse(nil, &b.Items[i], &m))
		require.True(t, m.HasKey)
		require.True(t, m.HasHeaders)
		all = append(all, fmt.Sprintf("%s@%d of %d %s", b.Source.Name, m.Number, m.Partitions, m.Payload))
	}
	return all
}

func TestTopicIsReadPartitionByPartitionUpToItsEnd(t *testing.T) {
	t.Parallel()
	l := &logs{partitions: [][]string{{"a", "b", "c", "later"}, {}, {"d"}}, ends: []int64{3, 0, 1}}
	r, err := Kafka(t.Context(), l, Topics{Names: []string{"t"}, MaxMessage: 10})
	require.NoError(t, err)
	var all []string
	var b Batch
	for err = r.Read(t.Context(), &b); err == nil; err = r.Read(t.Context(), &b) {
		all = append(all, names(t, &b)...)
	}
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, []string{"t/0@0 of 3 a", "t/0@1 of 3 b", "t/0@2 of 3 c", "t/2@0 of 3 d"}, all)
}

func TestPartitionWithAnOpenTransactionEndsWhereItCanBeRead(t *testing.T) {
	t.Parallel()
	l := &logs{partitions: [][]string{{"a"}}, ends: []int64{5}}
	r, err := Kafka(t.Context(), l, Topics{Names: []string{"t"}, MaxMessage: 10})
	require.NoError(t, err)
	var b Batch
	require.NoError(t, r.Read(t.Context(), &b))
	require.ErrorIs(t, r.Read(t.Context(), &b), io.EOF)
}

func TestFollowGoesOnWhereTheFirstReadingEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := &logs{partitions: [][]string{{"a", "later"}, {"b"}}, ends: []int64{1, 1}}
		r, err := Kafka(ctx, l, Topics{Names: []string{"t"}, Follow: true, MaxMessage: 10})
		require.NoError(t, err)
		var all []string
		var b Batch
		for len(all) < 3 {
			require.NoError(t, r.Read(ctx, &b))
			all = append(all, names(t, &b)...)
		}
		require.Equal(t, []string{"t/0@0 of 2 a", "t/1@0 of 2 b", "t/0@1 of 2 later"}, all)
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, r.Read(ctx, &b), context.Canceled)
		synctest.Wait()
	})
}

func TestFollowReadsPartitionsThatAreAdded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l := &logs{partitions: [][]string{{"a"}}, ends: []int64{1}}
		r, err := Kafka(ctx, l, Topics{Names: []string{"t"}, Follow: true, MaxMessage: 10})
		require.NoError(t, err)
		var b Batch
		require.NoError(t, r.Read(ctx, &b))
		require.Equal(t, []string{"t/0@0 of 1 a"}, names(t, &b))
		time.AfterFunc(time.Minute, func() { l.add("b", "c") })
		require.NoError(t, r.Read(ctx, &b))
		// By which count a producer places its records is not known as long as it may have the old one.
		require.Equal(t, []string{"t/1@0 of 0 b", "t/1@1 of 0 c"}, names(t, &b))
		time.Sleep(learnWithin)
		l.add("d")
		l.mu.Lock()
		l.partitions[0] = append(l.partitions[0], "e")
		l.mu.Unlock()
		var all []string
		for len(all) < 2 {
			require.NoError(t, r.Read(ctx, &b))
			all = append(all, names(t, &b)...)
		}
		require.ElementsMatch(t, []string{"t/0@1 of 0 e", "t/2@0 of 0 d"}, all)
		cancel()
		synctest.Wait()
	})
}

// Records from behind that time are judged by the new count.
func TestRecordsAreJudgedByTheNewCountOnceAllKnowIt(t *testing.T) {
	t.Parallel()
	r := &topics{topics: Topics{MaxMessage: 10}}
	grown := time.Now()
	p := &part{source: &Source{}, partitions: 3, unsure: grown}
	var b Batch
	require.NoError(t, r.fill(&b, p, []broker.Message{{Time: grown.Add(-time.Second)}, {Time: grown}}))
	var m Message
	for i, want := range []int32{0, 3} {
		require.NoError(t, b.Parse(nil, &b.Items[i], &m))
		require.Equal(t, want, m.Partitions)
	}
}

func TestBrokerThatGoesAwayEndsTheReading(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	r, err := Kafka(t.Context(), &logs{partitions: [][]string{{"a", "b", "c"}}, ends: []int64{3}, fails: away}, Topics{Names: []string{"t"}, MaxMessage: 10})
	require.NoError(t, err)
	var b Batch
	require.NoError(t, r.Read(t.Context(), &b))
	require.ErrorIs(t, r.Read(t.Context(), &b), away)
}

func TestBrokerThatGoesAwayWhileFollowingSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		away := errors.New("away")
		l := &logs{partitions: [][]string{{"a", "b"}}, ends: []int64{2}, fails: away}
		r, err := Kafka(ctx, l, Topics{Names: []string{"t"}, Follow: true, MaxMessage: 10})
		require.NoError(t, err)
		var b Batch
		require.NoError(t, r.Read(ctx, &b))
		err = r.Read(ctx, &b)
		require.ErrorIs(t, err, away)
		require.EqualError(t, err, "away; to go on, run it again with --since 1999-12-30T23:59:01Z, a minute before the last message that was read")
	})
}

func TestPayloadBeyondTheBoundIsAnErrorWithItsOffset(t *testing.T) {
	t.Parallel()
	r, err := Kafka(t.Context(), &logs{partitions: [][]string{{"a", "long"}}, ends: []int64{2}}, Topics{Names: []string{"t"}, MaxMessage: 3})
	require.NoError(t, err)
	var b Batch
	require.ErrorContains(t, r.Read(t.Context(), &b), "t/0@1: a message of 4 bytes, and at most 3 are read")
}
