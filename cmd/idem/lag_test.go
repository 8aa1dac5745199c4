package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/operate/lag"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

func TestLagSaysWhatIsWrong(t *testing.T) {
	t.Setenv("KAFKA_BROKERS", "")
	t.Setenv("IDEM_BROKERS", "")
	for _, c := range []struct{ want, args string }{
		{"no --brokers, and KAFKA_BROKERS is not set", "lag"},
		{"it is table or json", "lag -o xml"},
		{"the window is at least 1s", "lag --window 1ms"},
		{"no longer than what is looked back", "lag --since 1m"},
		{"not below 0", "lag --for -1s"},
		{"at least 100ms", "lag --watch --interval 1ms"},
		{"one argument too many", "lag orders"},
		{"KAFKA_PASSWORD", "lag --brokers 127.0.0.1:1 --sasl PLAIN --user u"},
		{"check that Kafka runs at 127.0.0.1:1", "lag --brokers 127.0.0.1:1"},
	} {
		stdout, stderr, code := invoke(t, strings.Fields(c.args)...)
		assert.Equal(t, exitUsage, code, c.args)
		assert.Contains(t, stderr, c.want, c.args)
		assert.Empty(t, stdout, c.args)
	}
}

// readers are members of a group that do as many messages of each partition a tick as pace says.
func readers(t *testing.T, brokers, topic, group string, members int, pace func(partition int32) int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, members)
	for range members {
		b, err := kafka.Open(kafka.Config{Brokers: strings.Split(brokers, ","), ClientID: "reader", HeartbeatInterval: 100 * time.Millisecond})
		require.NoError(t, err)
		g, err := b.Group(t.Context(), group, []string{topic})
		require.NoError(t, err)
		go func() {
			defer func() { _, _ = g.Close(), b.Close(); done <- struct{}{} }()
			for ctx.Err() == nil {
				if n, err := g.Join(ctx); err == nil {
					readGeneration(ctx, b, n, pace)
					_ = n.Close()
				}
			}
		}()
	}
	t.Cleanup(func() {
		cancel()
		for range members {
			<-done
		}
	})
}

func readGeneration(ctx context.Context, b *kafka.Broker, n broker.Generation, pace func(int32) int64) {
	at := map[broker.TopicPartition]int64{}
	var partitions []broker.TopicPartition
	for _, a := range n.Assignments() {
		at[a.TopicPartition] = a.Offset
		partitions = append(partitions, a.TopicPartition)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
		if len(partitions) == 0 {
			continue
		}
		bounds, err := b.Bounds(ctx, partitions)
		if err != nil {
			continue
		}
		for p := range at {
			at[p] = min(at[p]+pace(p.Partition), bounds[p].To)
		}
		_ = n.Commit(ctx, at)
	}
}

// lagOf runs the command until its answer about the group is as wanted.
func lagOf(t *testing.T, what string, args []string, wanted func(lagGroup) bool) lagGroup {
	t.Helper()
	var g lagGroup
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		stdout, stderr, code := invoke(t, append([]string{"lag", "-o", "json", "--for", "0"}, args...)...)
		if code == exitNo {
			continue // the group is not there yet
		}
		require.Equal(t, exitOK, code, stderr)
		g = lagGroup{}
		require.NoError(t, json.Unmarshal([]byte(stdout), &g), stdout)
		if wanted(g) {
			return g
		}
	}
	t.Fatalf("%s: not within a minute; last: %+v", what, g)
	return g
}

func (g lagGroup) finding(kind string) *lagFinding {
	for i := range g.Findings {
		if string(g.Findings[i].Kind) == kind {
			return &g.Findings[i]
		}
	}
	return nil
}

func lagTopic(t *testing.T, partitions int) (brokers, topic string, b *kafka.Broker) {
	t.Helper()
	brokers = kafkaBrokers(t)
	topic = fmt.Sprintf("idem-lag-%d", time.Now().UnixNano())
	return brokers, topic, withTopic(t, brokers, topic, partitions)
}

func TestLagLeavesOutPartitionsWithNothingToDo(t *testing.T) {
	t.Parallel()
	group := lag.Group{Name: "mail", State: "Stable", Partitions: []lag.Partition{
		{TopicPartition: broker.TopicPartition{Topic: "orders"}, Lag: 3, Trend: lag.Trend{Rates: lag.Rates{Window: 5 * time.Minute}}},
		{TopicPartition: broker.TopicPartition{Topic: "orders", Partition: 1}},
		{TopicPartition: broker.TopicPartition{Topic: "orders.retry.mail"}},
		{TopicPartition: broker.TopicPartition{Topic: "orders.retry.mail", Partition: 1}},
	}, Findings: []lag.Finding{{Kind: lag.Unowned, Topic: "orders", Partitions: []int32{1}, Text: "nobody has it", Advice: "restart"}}}
	report := &lag.Report{Groups: []lag.Group{group}}
	for all, want := range map[bool]string{false: "2 partitions without lag; --all shows them\nunowned: ", true: "orders.retry.mail  1 "} {
		var out bytes.Buffer
		lagTables(&out, report, time.Hour, all)
		assert.Contains(t, out.String(), "group mail: Stable, members 0, lag 3, rates over the last 5m (--window)\n")
		assert.Regexp(t, `(?m)^orders +0 `, out.String())
		assert.Equal(t, all, strings.Contains(out.String(), "orders.retry.mail"))
		assert.Equal(t, !all, strings.Contains(out.String(), "--all"))
		assert.Regexp(t, `(?m)^orders +1 `, out.String(), "something is the matter with it")
		assert.Contains(t, out.String(), want)
	}
	report.Groups[0].Partitions = report.Groups[0].Partitions[:3]
	var out bytes.Buffer
	lagTables(&out, report, time.Hour, false)
	assert.Contains(t, out.String(), "1 partition without lag; --all shows it\n")
	out.Reset()
	require.NoError(t, lagLines(&out, report))
	assert.Contains(t, out.String(), "orders.retry.mail", "JSON has all")
}

// That members cannot be seen is not that there are none.
func TestLagOfMembersThatAreUnknown(t *testing.T) {
	t.Parallel()
	line := groupLine(&lag.Group{Name: "mail", State: "Dead", Hidden: true})
	assert.Equal(t, "group mail: committed, members unknown (the group uses the consumer protocol of KIP-848), lag 0", line)
}

func TestLagRisesAndDrains(t *testing.T) {
	t.Parallel()
	brokers, topic, b := lagTopic(t, 1)
	var pace, load atomic.Int64
	pace.Store(1)
	load.Store(30)
	readers(t, brokers, topic, topic, 1, func(int32) int64 { return pace.Load() })
	ctx, cancel := context.WithCancel(context.Background())
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for ctx.Err() == nil {
			messages := make([]broker.Message, load.Load())
			for i := range messages {
				messages[i] = broker.Message{Topic: topic, Value: []byte("m")}
			}
			b.Publish(ctx, messages)
			time.Sleep(100 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { cancel(); <-sent })

	args := []string{"--brokers", brokers, "--group", topic, "--since", "20s", "--window", "3s"}
	g := lagOf(t, "rising", args, func(g lagGroup) bool {
		return g.finding("rising") != nil && g.Lag > 500
	})
	p := g.Partitions[0]
	assert.Greater(t, *p.In, *p.Out)
	require.NotNil(t, p.RisingSince)
	assert.False(t, p.RisingBy.Before(*p.RisingSince))
	assert.Equal(t, p.RisingBy, g.finding("rising").SinceBy)
	assert.NotNil(t, p.Oldest)
	assert.Equal(t, g.Members[0].ID, p.Owner)
	assert.Contains(t, g.finding("rising").Text, topic+"/0 rises since")

	assert.Greater(t, len(p.History), 1, "one look knows of more")

	load.Store(0)
	pace.Store(5) // it takes longer than a look
	g = lagOf(t, "draining", args, func(g lagGroup) bool { return g.finding("draining") != nil })
	assert.Equal(t, "draining", string(g.Partitions[0].Slope))
	assert.Nil(t, g.Partitions[0].RisingSince)
	assert.Nil(t, g.finding("rising"))
	assert.Contains(t, g.finding("draining").Text, "has caught up in")
}

func TestLagFindsIdleMembersAndAStuckPartition(t *testing.T) {
	t.Parallel()
	brokers, topic, b := lagTopic(t, 2)
	var messages []broker.Message
	for i := range 40 {
		messages = append(messages, broker.Message{Topic: topic, Key: fmt.Append(nil, i), Value: []byte("m")})
	}
	require.Nil(t, b.Publish(t.Context(), messages))
	readers(t, brokers, topic, topic, 3, func(p int32) int64 { return int64(1-p) * 5 })
	args := []string{"--brokers", brokers, "--group", topic, "--since", "20s", "--window", "3s", "--stuck", "1s"}
	g := lagOf(t, "stuck and idle", args, func(g lagGroup) bool { return g.finding("stuck") != nil && g.finding("idle") != nil })
	stuck, idle := g.finding("stuck"), g.finding("idle")
	assert.Equal(t, []int32{1}, stuck.Partitions)
	assert.Contains(t, stuck.Text, topic+"/1 is stuck at offset 0 since ")
	assert.Regexp(t, "reader-.* has committed nothing since ", stuck.Text)
	assert.Contains(t, stuck.Advice, "at the message at offset 0")
	assert.Len(t, idle.Members, 1)
	assert.Contains(t, idle.Text, "1 of 3 members have no partition, since there are 2 partitions")
	assert.Contains(t, idle.Advice, "idem topic grow")

	stdout, stderr, code := invoke(t, append([]string{"lag", "--for", "0"}, args...)...)
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "group "+topic+": Stable, members 3, lag ")
	assert.Contains(t, stdout, "stuck: "+topic+"/1")
	assert.Contains(t, stdout, "OWNER")
}

func TestLagOfAGroupThatNobodyRuns(t *testing.T) {
	t.Parallel()
	brokers, topic, _ := lagTopic(t, 1)
	client, err := kafka.Open(kafka.Config{Brokers: strings.Split(brokers, ",")})
	require.NoError(t, err)
	defer client.Close()
	group, err := client.Group(t.Context(), topic, []string{topic})
	require.NoError(t, err)
	n, err := group.Join(t.Context())
	require.NoError(t, err)
	require.NoError(t, n.Commit(t.Context(), map[broker.TopicPartition]int64{{Topic: topic}: 5}))
	require.NoError(t, n.Close())
	require.NoError(t, group.Close())

	// What it committed is of this moment, so that nothing is known of before: it has to measure.
	stdout, stderr, code := invoke(t, "lag", "--brokers", brokers, "--topic", topic, "--for", "300ms")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "group "+topic+": Empty, members 0, lag 15, rates over the last ")
	assert.Contains(t, stdout, "no member: the group has no member, ")
	assert.Contains(t, stdout, "15 messages wait, the oldest for ")
	assert.Contains(t, stdout, "flat")
	assert.Contains(t, stderr, "measuring for 300ms: of "+topic+"/0")

	for output, want := range map[string]string{"json": `(?m)^{"at":"20`, "table": `(?m)^at 20..-..-..T..:..:..Z\ngroup ` + topic + ": Empty"} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		out := &watched{cancel: cancel, want: regexp.MustCompile(want)}
		err = (&lagFlags{kafka: kafkaFlags{brokers: strings.Split(brokers, ","), brokersFlag: "brokers"}, watchFlags: watchFlags{watch: true, interval: 100 * time.Millisecond},
			output: output, groups: []string{topic}, since: time.Hour, window: time.Minute}).run(ctx, streams{out: out, err: out})
		assert.NoError(t, err)
		assert.GreaterOrEqual(t, out.looks(), 3, output)
	}

	for args, want := range map[string]string{
		"--group no-such-group":                          "no such group: look at its name; `idem lag` without --group",
		"--group " + topic + "x":                         "no such group; did you mean " + topic + "?",
		"--topic no-such-topic":                          "no group reads it: look at its name; `idem lag` without --topic",
		"--group " + topic + " --topic " + topic[1:]:     "no group reads it; did you mean " + topic + "?",
		"--group " + topic + " --topic " + topic + "s.x": "no group reads it; did you mean " + topic + "?",
	} {
		stdout, stderr, code = invoke(t, append([]string{"lag", "--brokers", brokers}, strings.Fields(args)...)...)
		assert.Equal(t, exitNo, code, args)
		assert.Contains(t, stderr, want, args)
		assert.Empty(t, stdout, args)
	}
}

// watched interrupts after three looks.
type watched struct {
	text   bytes.Buffer
	cancel context.CancelFunc
	want   *regexp.Regexp // a look
}

func (w *watched) looks() int { return len(w.want.FindAllString(w.text.String(), -1)) }

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.text.Write(b)
	if w.looks() >= 3 {
		w.cancel()
	}
	return n, err
}
