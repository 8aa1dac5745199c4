package kafka

import (
	"slices"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/realtest"
)

func TestCommitLogHasWhatAGroupCommitted(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 2)
	before := time.Now().Add(-time.Minute)
	publish(t, b, numbered(topic, 50, 10)...)
	n := join(t, member(t, b, topic, topic))
	for _, offset := range []int64{1, 2, 5} {
		if err := n.Commit(t.Context(), map[broker.TopicPartition]int64{at(topic, 1): offset}); err != nil {
			t.Fatal(err)
		}
	}
	logs, err := b.CommitLogs(t.Context(), []string{topic, "nobody"}, before)
	if err != nil {
		t.Fatal(err)
	}
	log := logs[topic]
	if !log.From.Equal(before) || len(log.Commits) != 1 {
		t.Fatalf("the log is %+v", log)
	}
	var offsets []int64
	for _, c := range log.Commits[at(topic, 1)] {
		offsets = append(offsets, c.Offset)
		if c.At.Before(before) || c.At.After(time.Now().Add(time.Minute)) {
			t.Errorf("%+v was committed at another time", c)
		}
	}
	if !slices.Equal(offsets, []int64{1, 2, 5}) {
		t.Errorf("committed were %v", offsets)
	}
	if l := logs["nobody"]; l == nil || len(l.Commits) != 0 {
		t.Errorf("a group that is not there has committed %+v", l)
	}
	if names, err := b.GroupNames(t.Context()); err != nil || !slices.Contains(names, topic) {
		t.Errorf("the groups are %v, %v", names, err)
	}
	if committed, err := b.Committed(t.Context(), topic); err != nil || committed[at(topic, 1)] != 5 {
		t.Errorf("committed is %v, %v", committed, err)
	}
}

func TestEndsAtATimeAreThoseBeforeYoungerMessages(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 1)
	publish(t, b, numbered(topic, 10, 1)...)
	time.Sleep(20 * time.Millisecond)
	between := time.Now()
	time.Sleep(20 * time.Millisecond)
	publish(t, b, numbered(topic, 5, 1)...)
	p := at(topic, 0)
	for when, want := range map[time.Time]map[broker.TopicPartition]int64{
		between.Add(-time.Hour): {p: 0},
		between:                 {p: 10},
		between.Add(time.Hour):  {},
	} {
		ends, err := b.EndsAt(t.Context(), []broker.TopicPartition{p}, when)
		if err != nil || len(ends) != len(want) || ends[p] != want[p] {
			t.Errorf("at %v it ended at %v, %v", when, ends, err)
		}
	}
	if bounds, err := b.Bounds(t.Context(), []broker.TopicPartition{p}); err != nil || bounds[p].To != 15 {
		t.Errorf("the bounds are %v, %v", bounds, err)
	}
}

// Compaction leaves the last commit of each partition alone: it held from its time on, and nothing is known of
// before.
func TestAGapOfCompactionEndsWhatIsKnown(t *testing.T) {
	t.Parallel()
	start := time.UnixMilli(1_700_000_000_000)
	message := func(log, offset int64) broker.Message {
		written := start.Add(time.Duration(log) * time.Second)
		return broker.Message{Offset: log, Key: commitKey(1, "g", "orders", 0), Value: commitValue(3, offset, written, ""), Time: written}
	}
	for _, c := range []struct {
		what string
		gap  int64
		want []int64
	}{
		{"whole", 0, []int64{10, 20, 30}},
		{"a gap before all", 5, []int64{10, 20, 30}},
		{"a gap within", 7, []int64{20, 30}},
		{"a gap behind all", 9, []int64{30}},
	} {
		r := commitReader{groups: map[string]history{"g": {}}}
		r.take(fetched{messages: []broker.Message{message(5, 10), message(6, 20), message(7, 30)}, gap: c.gap})
		var got []int64
		for _, commit := range r.groups["g"][at("orders", 0)] {
			got = append(got, commit.Offset)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

func TestCommitLogIsReadByTLSAndSASL(t *testing.T) {
	t.Parallel()
	tls, sasl := realtest.KafkaTLS(t), realtest.KafkaSASL(t)
	for _, mechanism := range []string{"", "PLAIN", "SCRAM-SHA-512"} {
		config := Config{Brokers: tls.Brokers, TLS: tls.TLS}
		if mechanism != "" {
			config = Config{Brokers: sasl.Brokers, SASL: SASL{Mechanism: mechanism, User: sasl.User, Password: sasl.Password}}
		}
		logs, err := opened(t, config).CommitLogs(t.Context(), []string{"nobody"}, time.Now().Add(-time.Minute))
		if err != nil || logs["nobody"] == nil {
			t.Errorf("%s: %v, %v", mechanism, logs, err)
		}
	}
}
