package kafka

import (
	"slices"
	"testing"

	"github.com/idem-spec/idem/runtime/go/broker"
)

func TestTopicsAreDescribedWithTheirSettings(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 2)
	topics, brokers, err := b.DescribeTopics(t.Context(), topic, "nobody-made-it")
	if err != nil || len(topics) != 1 || brokers != 1 {
		t.Fatalf("described %+v of %d brokers, %v", topics, brokers, err)
	}
	d := topics[0]
	if d.Name != topic || len(d.Partitions) != 2 || len(d.Partitions[0].Replicas) != 1 || len(d.Partitions[0].InSync) != 1 {
		t.Errorf("the topic is %+v", d)
	}
	if d.ConfigErr != nil || d.Config["cleanup.policy"] != "delete" || d.Config["retention.ms"] == "" {
		t.Errorf("its settings are %v, %v", d.Config, d.ConfigErr)
	}
}

func TestGroupIsDescribedWithWhatItsMembersHave(t *testing.T) {
	t.Parallel()
	b, topic := onKafka(t, 2)
	none, err := b.DescribeGroup(t.Context(), topic)
	if err != nil || none.State != "Dead" {
		t.Errorf("a group that nobody has is %+v, %v", none, err)
	}
	n := join(t, member(t, b, topic, topic))
	d, err := b.DescribeGroup(t.Context(), topic)
	if err != nil || d.State != "Stable" || len(d.Members) != 1 {
		t.Fatalf("the group is %+v, %v", d, err)
	}
	if m := d.Members[0]; !slices.Equal(m.Topics, []string{topic}) || !slices.Contains(m.Partitions, at(topic, 1)) || len(m.Partitions) != 2 {
		t.Errorf("its member is %+v", m)
	}
	if topics, err := b.CommittedTopics(t.Context(), topic); err != nil || len(topics) != 0 {
		t.Errorf("it has committed of %v, %v", topics, err)
	}
	if err := n.Commit(t.Context(), map[broker.TopicPartition]int64{at(topic, 1): 0}); err != nil {
		t.Fatal(err)
	}
	if topics, err := b.CommittedTopics(t.Context(), topic); err != nil || !slices.Equal(topics, []string{topic}) {
		t.Errorf("it has committed of %v, %v", topics, err)
	}
}

// Version 3 is what Java's clients send since 3.5: behind the topics come user data, owned partitions, a generation
// and a rack.
func TestMembersOfLaterVersionsAreRead(t *testing.T) {
	t.Parallel()
	whole := []byte("\x00\x03\x00\x00\x00\x02\x00\x01a\x00\x02bc\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff")
	if got := subscription(whole); !slices.Equal(got, []string{"a", "bc"}) {
		t.Errorf("subscribed to %q", got)
	}
	given := []byte("\x00\x00\x00\x00\x00\x01\x00\x01a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x07\xff\xff\xff\xff")
	if got := assignment(given); !slices.Equal(got, []broker.TopicPartition{at("a", 0), at("a", 7)}) {
		t.Errorf("was given %v", got)
	}
	for i := range len(given) {
		subscription(whole[:i]) // what is cut off does no harm
		assignment(given[:i])
	}
}
