package lag

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

// grouped is a group whose members have a partition each; those beyond have none.
func grouped(members int, partitions ...Partition) Group {
	g := Group{Name: "mail", State: "Stable", Partitions: partitions}
	for i := range members {
		m := kafka.GroupMember{ID: fmt.Sprintf("mail-%d-01234567-89ab-cdef-0123-456789abcdef", i), Host: "/10.0.0.7", Topics: []string{"orders"}}
		if i < len(partitions) {
			m.Partitions = []broker.TopicPartition{partitions[i].TopicPartition}
		}
		g.Members = append(g.Members, m)
	}
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if i < members {
			p.Owner = &g.Members[i]
		}
	}
	return g
}

// owning is a group with one member that has all partitions.
func owning(partitions ...Partition) Group {
	g := grouped(1, partitions...)
	for i := range g.Partitions {
		g.Partitions[i].Owner = &g.Members[0]
	}
	return g
}

// of is a partition of orders with a lag that is done as fast as it comes.
func of(id int32, lag int64, in float64) Partition {
	return Partition{TopicPartition: broker.TopicPartition{Topic: "orders", Partition: id}, Committed: 100, End: 100 + lag, Lag: lag,
		Trend: Trend{Rates: Rates{in, in, time.Minute}, Slope: Flat, Unmoved: minute(60), Came: true}}
}

func with(p Partition, change func(*Partition)) Partition {
	change(&p)
	return p
}

func TestFindings(t *testing.T) {
	t.Parallel()
	rising := func(p *Partition) {
		p.Slope, p.Since, p.SinceBy, p.In, p.Out = Rising, minute(30), minute(32), 50, 38
		p.Lately = Rates{60, 10, 6 * time.Second}
	}
	stuck := func(p *Partition) { p.Unmoved, p.Out = minute(48), 0 }
	for _, c := range []struct {
		what  string
		group Group
		want  []string // text: advice
	}{
		{"all is well", grouped(2, of(0, 0, 1), of(1, 3, 1)), nil},
		{"nobody there and nothing to do", grouped(0, of(0, 0, 0)), nil},
		{"nobody there", func() Group {
			g := grouped(0, with(of(0, 7, 0), func(p *Partition) { p.Oldest, p.Unmoved = minute(50), minute(45) }), with(of(1, 5, 0), func(p *Partition) { p.Oldest, p.Unmoved = minute(40), minute(35) }))
			g.State = "Empty"
			return g
		}(), []string{"no_member: the group has no member, nothing was committed since 06:45:00Z (for 15m0s), and 12 messages wait, the oldest for 20m0s: look whether its process runs: one that is paused, hangs or does not reach the brokers is no member either, once its session has timed out; else start it; where the group was given up, kafka-consumer-groups --delete removes it"}},
		{"more members than partitions", grouped(3, of(0, 0, 1), of(1, 0, 1)), []string{
			"idle: 1 of 3 members have no partition, since there are 2 partitions: mail-2-01234567@10.0.0.7: stop them, or give the topic more partitions (idem topic grow)"}},
		{"a partition without an owner", grouped(1, of(0, 0, 1), of(1, 1, 1)), []string{
			"unowned: no member has orders/1, and 1 message waits: partitions that were added lately are dealt out at the next rebalance: restart a member where it lasts, and see whether all members ask for the same topics"}},
		{"stuck", grouped(2, with(of(0, 5, 1), stuck), of(1, 0, 1)), []string{
			"stuck: orders/0 is stuck at offset 100 since 06:48:00Z (for 12m0s), and 5 messages wait; mail-0-01234567@10.0.0.7 has committed nothing since 06:48:00Z: look whether it works at all, or is paused, hangs or waits; else at the message at offset 100, and what it logs of it"}},
		{"stuck, and its member goes on elsewhere", owning(with(of(0, 5, 1), stuck), of(1, 0, 1)), []string{
			"stuck: orders/0 is stuck at offset 100 since 06:48:00Z (for 12m0s), and 5 messages wait: look at the message at offset 100, and what mail-0-01234567@10.0.0.7 logs of it"}},
		{"a member that commits nothing", owning(with(of(0, 5, 1), stuck), with(of(1, 7, 1), stuck), with(of(2, 0, 1), func(p *Partition) { p.Unmoved = minute(50) })), []string{
			"stuck: orders/0-1 are stuck since 06:48:00Z (for 12m0s), and 12 messages wait; mail-0-01234567@10.0.0.7 has committed nothing since 06:50:00Z: look whether it works at all, or is paused, hangs or waits; else at the message at offset 100 of orders/0, and what it logs of it"}},
		{"idle until a message came a moment ago", grouped(1, with(of(0, 1, 0), func(p *Partition) { stuck(p); p.Oldest = minute(60) })), nil},
		{"stuck since before all that is known", grouped(1, with(of(0, 5, 1), func(p *Partition) { stuck(p); p.Came = false })), []string{
			"stuck: orders/0 is stuck at offset 100 since 06:48:00Z (for 12m0s at least), and 5 messages wait; mail-0-01234567@10.0.0.7 has committed nothing since 06:48:00Z: look whether it works at all, or is paused, hangs or waits; else at the message at offset 100, and what it logs of it"}},
		{"rising, with fewer members than partitions", grouped(2, with(of(0, 500, 0), rising), with(of(1, 520, 0), rising), of(2, 400, 0)), []string{
			"unowned: no member has orders/2, and 400 messages wait: partitions that were added lately are dealt out at the next rebalance: restart a member where it lasts, and see whether all members ask for the same topics",
			"rising: orders/0-1 rises since 06:30-06:32Z (for 28m-30m): 100/s come and 76/s are done, over the last 1m; 120/s come and 20/s are done, over the last 6s: start more members: there are 2 for 3 partitions; or have it do a message in less time"}},
		{"rising, with as many", grouped(1, with(of(0, 500, 0), rising)), []string{
			"rising: orders/0 rises since 06:30-06:32Z (for 28m-30m): 50/s come and 38/s are done, over the last 1m; 60/s come and 10/s are done, over the last 6s: have it do a message in less time: each partition has a member of its own, so more members do not help; more partitions do (idem topic grow)"}},
		{"rising, and about to be stuck", grouped(1, with(of(0, 500, 0), func(p *Partition) {
			rising(p)
			p.Unmoved, p.Oldest = minute(60).Add(-20*time.Second), minute(60).Add(-30*time.Second)
		})), []string{
			"rising: orders/0 rises since 06:30-06:32Z (for 28m-30m): 50/s come, over the last 1m, and nothing was committed for 20s: look whether its members work at all, and what they log; one long batch or message looks the same"}},
		{"one key has it all", grouped(3, of(0, 10, 1), of(1, 900, 20), of(2, 10, 1)), []string{
			"hot: orders/1 has 97% of the lag of its topic, and gets 91% of the messages: one key has most of the messages, or a producer sends all to one partition: more consumers do not help, a finer biz_key does"}},
		{"one consumer is slow", grouped(3, of(0, 10, 5), of(1, 900, 5), of(2, 10, 5)), []string{
			"hot: orders/1 has 97% of the lag of its topic: its messages are as many as elsewhere, so its consumer is slower: look for slow messages there"}},
		{"draining", grouped(1, with(of(0, 600, 0), func(p *Partition) { p.Slope, p.In, p.Out = Draining, 10, 20 })), []string{
			"draining: orders/0 drains, and has caught up in 1m0s where it goes on like this: nothing to do"}},
		{"draining faster of late", grouped(1, with(of(0, 600, 0), func(p *Partition) { p.Slope, p.In, p.Out, p.Lately = Draining, 20, 20, Rates{10, 40, 6 * time.Second} })), []string{
			"draining: orders/0 drains, and has caught up in 20s where it goes on like this: nothing to do"}},
		{"draining until a moment ago", grouped(1, with(of(0, 600, 0), func(p *Partition) {
			p.Slope, p.In, p.Out, p.Unmoved = Draining, 10, 20, minute(60).Add(-9*time.Second)
		})), nil},
		{"rebalancing", func() Group {
			g := grouped(1, with(of(0, 0, 0), func(p *Partition) {}))
			g.State, g.Partitions[0].Owner = "PreparingRebalance", nil
			return g
		}(), []string{"rebalancing: the group is rebalancing (PreparingRebalance): look again; where it goes on, members come and go: look for restarts, and for handlers longer than the session's time-out"}},
		{"members that nobody can see", func() Group {
			g := grouped(0, with(of(0, 5, 1), stuck))
			g.State, g.Hidden = "Dead", true
			return g
		}(), []string{"stuck: orders/0 is stuck at offset 100 since 06:48:00Z (for 12m0s), and 5 messages wait: look at the message at offset 100, and what its consumer logs of it"}},
		{"a topic that it does not read any more", func() Group {
			g := grouped(1, of(0, 0, 1), with(of(0, 9, 0), func(p *Partition) { p.Topic, p.Slope = "payments", "" }))
			return g
		}(), []string{"unowned: no member reads payments any more, and 9 messages wait: where the group has given it up, kafka-consumer-groups --delete-offsets forgets it; else have the consumer read it"}},
	} {
		c.group.find(minute(60), time.Minute)
		var got []string
		for _, f := range c.group.Findings {
			got = append(got, fmt.Sprintf("%s: %s: %s", f.Kind, f.Text, f.Advice))
		}
		assert.Equal(t, c.want, got, c.what)
	}
}

// What is known to a few minutes is not told to the second.
func TestTimesAreToldAsExactlyAsTheyAreKnown(t *testing.T) {
	t.Parallel()
	at := func(minute, second int) time.Time { return start.Add(time.Duration(minute*60+second) * time.Second) }
	now := at(60, 30)
	for _, c := range []struct {
		from, by     time.Time
		clock, spans string
	}{
		{at(42, 28), at(44, 28), "06:42-06:45Z", "16m-19m"},
		{at(58, 30), at(60, 30), "06:58-07:01Z", "0s-2m"},
		{at(42, 28), at(42, 30), "06:42:28-06:42:30Z", "18m-18m2s"},
		{at(42, 28), at(42, 28).Add(time.Millisecond), "06:42:28Z", "18m2s"},
		{at(0, 30), at(0, 30), "before 06:00:30Z", "more than 1h0m"},
	} {
		assert.Equal(t, c.clock, clocks(c.from, c.by))
		assert.Equal(t, c.spans, spans(c.from, c.by, now))
	}
}

func TestWindowsOfPartitions(t *testing.T) {
	t.Parallel()
	lasting := func(all ...time.Duration) string {
		var g Group
		for _, d := range all {
			g.Partitions = append(g.Partitions, Partition{Trend: Trend{Rates: Rates{Window: d, In: 1}}}, Partition{Trend: Trend{Rates: Rates{Window: time.Hour}}})
		}
		return g.Windows()
	}
	assert.Empty(t, lasting(0, 0))
	assert.Equal(t, "5m", lasting(5*time.Minute, 0, 5*time.Minute+time.Millisecond))
	assert.Equal(t, "40s to 5m", lasting(5*time.Minute, 0, 40*time.Second))
}

func TestPlacesAndRatesAreShort(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "orders/0-3,7,9-10", places("orders", []int32{9, 3, 0, 1, 2, 7, 10}))
	for rate, want := range map[float64]string{0: "0", 0.0083: "<0.01", 0.0333: "0.03", 0.1: "0.1", 0.58: "0.58", 0.998: "1", 1: "1", 2.25: "2.3", 7.02: "7", 99.6: "100", 12345: "12345"} {
		assert.Equal(t, want, Rate(rate))
	}
	assert.Equal(t, "mail-YweRK/jc@10.0.0.7", Name(&kafka.GroupMember{ID: "YweRK/jcQJemfmYtdafcqg", ClientID: "mail", Host: "/10.0.0.7"}))
	assert.Equal(t, "reader@10.0.0.7", Name(&kafka.GroupMember{ID: "reader", Host: "/10.0.0.7"}))
}
