package deadletter_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

const dlq = "orders.dlq.payments"

// dead is a dead letter as a guard publishes it.
func dead(n int) broker.Message {
	d := letter(n)
	return broker.Message{Topic: dlq, Key: fmt.Appendf(nil, "biz-%d", n), Value: d.Payload, Headers: d.Headers}
}

// topics is a broker with a dead-letter topic of one partition and a retry topic of eight.
func topics(t testing.TB, letters ...broker.Message) *broker.Memory {
	t.Helper()
	b := broker.NewMemory(broker.MemoryConfig{})
	t.Cleanup(func() { b.Close() })
	for name, n := range map[string]int32{dlq: 1, target: 8} {
		if err := b.CreateTopic(name, n); err != nil {
			t.Fatal(err)
		}
	}
	if errs := b.Publish(context.Background(), letters); errs != nil {
		t.Fatal(errs)
	}
	return b
}

func campaign(c deadletter.TopicConfig) deadletter.TopicConfig {
	c.Scope, c.Origin, c.Log = scope, origin, quiet
	if c.Name == "" {
		c.Name = "test"
	}
	return c
}

func fromTopic(t *testing.T, b broker.Broker, s *memory.Store, c deadletter.TopicConfig, want deadletter.Report) {
	t.Helper()
	got, err := deadletter.FromTopic(t.Context(), b, s, campaign(c))
	if err != nil {
		t.Fatal(err)
	}
	got.FirstError = nil
	if got != want {
		t.Errorf("report %+v, want %+v", got, want)
	}
}

// redriven are the keys in the retry topic, sorted.
func redriven(b *broker.Memory) (keys []string) {
	for _, m := range b.Messages(target) {
		keys = append(keys, string(m.Headers[0].Value))
	}
	slices.Sort(keys)
	return keys
}

func TestFault17_aTopicOfFewerPartitionsIsRedrivenByKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var letters []broker.Message
		for n := range 40 {
			letters = append(letters, dead(n))
		}
		b := topics(t, letters...)
		s := memory.New(memory.Config{})
		fromTopic(t, b, s, deadletter.TopicConfig{}, deadletter.Report{Matched: 40, Redriven: 40})
		used := map[int32]bool{}
		for _, m := range b.Messages(target) {
			used[m.Partition] = true
			want, err := idem.KafkaPartition(string(m.Key), 8)
			if err != nil || m.Partition != want {
				t.Errorf("key %s is in partition %d, want %d", m.Key, m.Partition, want)
			}
			lives := []string{"retry_count", "0", "redrive_count", "1"}
			for i := 0; i < len(lives); i += 2 {
				if at := slices.Index(texts(m.Headers), lives[i]); at < 0 || texts(m.Headers)[at+1] != lives[i+1] {
					t.Errorf("headers %v", texts(m.Headers))
				}
			}
		}
		if len(used) < 2 {
			t.Errorf("all in partitions %v", used)
		}
	})
}

func TestACampaignTakesWhatItsSelectSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := topics(t, dead(1), dead(2), dead(3))
		fromTopic(t, b, memory.New(memory.Config{}), deadletter.TopicConfig{
			Select: func(d *store.DeadLetter) bool { return d.SourceOffset != 1 },
		}, deadletter.Report{Matched: 2, Redriven: 2})
		if got := redriven(b); !slices.Equal(got, []string{"key-1", "key-3"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestACampaignGoesOnAndAnotherSkipsWhatIsRedriven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := topics(t, dead(1), dead(2), dead(3))
		s := memory.New(memory.Config{})
		only := store.DeadLetterFilter{Key: "key-2"}
		fromTopic(t, b, s, deadletter.TopicConfig{Filter: only}, deadletter.Report{Matched: 1, Redriven: 1})
		if got := redriven(b); !slices.Equal(got, []string{"key-2"}) {
			t.Errorf("%v", got)
		}
		// The same name has seen them all.
		fromTopic(t, b, s, deadletter.TopicConfig{}, deadletter.Report{})
		// Its delivery has run: the record tells another campaign.
		claim(t, s, "key-2", 1)
		fromTopic(t, b, s, deadletter.TopicConfig{Name: "all"}, deadletter.Report{Matched: 2, Redriven: 2, Skipped: 1})
		if got := redriven(b); !slices.Equal(got, []string{"key-1", "key-2", "key-3"}) {
			t.Errorf("%v", got)
		}
		// What comes later is for the same name.
		b.Publish(t.Context(), []broker.Message{dead(4)})
		fromTopic(t, b, s, deadletter.TopicConfig{Name: "all"}, deadletter.Report{Matched: 1, Redriven: 1})
	})
}

func TestAKeyThatHasSucceededIsSkipped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := topics(t, dead(1), dead(2))
		s := memory.New(memory.Config{})
		ok, err := s.Complete(t.Context(), []store.Completion{{Lease: claim(t, s, "key-1", 0)}})
		if err != nil || !ok[0] {
			t.Fatal(ok, err)
		}
		fromTopic(t, b, s, deadletter.TopicConfig{}, deadletter.Report{Matched: 1, Redriven: 1, Skipped: 1})
		if got := redriven(b); !slices.Equal(got, []string{"key-2"}) {
			t.Errorf("%v", got)
		}
	})
}

func TestTopicFilters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		filter store.DeadLetterFilter
		want   []string
	}{
		{"event type", store.DeadLetterFilter{EventType: "refunded"}, []string{"key-2"}},
		{"reason", store.DeadLetterFilter{ReasonPrefix: "NO_"}, []string{"key-3"}},
		{"time", store.DeadLetterFilter{Since: time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC), Until: time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC)}, []string{"key-4"}},
	} {
		synctest.Test(t, func(t *testing.T) { // its clock begins in 2000
			b := topics(t, dead(1))
			for n := 2; n <= 3; n++ {
				m := dead(n)
				if n == 2 {
					m.Headers[1].Value = []byte("refunded")
				} else {
					m.Headers[8].Value = []byte("NO_ACCOUNT")
				}
				b.Publish(t.Context(), []broker.Message{m})
			}
			time.Sleep(time.Hour)
			b.Publish(t.Context(), []broker.Message{dead(4)})
			time.Sleep(time.Hour)
			fromTopic(t, b, memory.New(memory.Config{}), deadletter.TopicConfig{Filter: c.filter}, deadletter.Report{Matched: 1, Redriven: 1})
			if got := redriven(b); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		})
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := topics(t, dead(1), dead(2))
		s := memory.New(memory.Config{})
		var sample []string
		dry := deadletter.TopicConfig{DryRun: true, Sample: func(d *store.DeadLetter) { sample = append(sample, d.Key+" "+d.Reason) }}
		fromTopic(t, b, s, dry, deadletter.Report{Matched: 2})
		if want := []string{"key-1 BAD_RATE: 0", "key-2 BAD_RATE: 0"}; !slices.Equal(sample, want) {
			t.Errorf("sample %v", sample)
		}
		if len(redriven(b)) != 0 {
			t.Error("it published")
		}
		if _, ok := b.Committed("payments.redrive.test", broker.TopicPartition{Topic: dlq}); ok {
			t.Error("it committed")
		}
		c := deadletter.TopicConfig{Config: deadletter.Config{Limit: 1}}
		report, err := deadletter.FromTopic(t.Context(), b, s, campaign(c))
		if !errors.Is(err, deadletter.ErrTooMany) || report.Matched != 2 || len(redriven(b)) != 0 {
			t.Errorf("%+v %v", report, err)
		}
		c.Limit = -1
		fromTopic(t, b, s, c, deadletter.Report{Matched: 2, Redriven: 2})
	})
}

func TestFromATopicTooOldNeedsToBeAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old := dead(1)
		old.Headers[8].Value = []byte("TOO_OLD: produced long ago")
		bad := dead(2)
		b := topics(t, old, bad)
		s := memory.New(memory.Config{})
		repair := func(d *store.DeadLetter) ([]byte, error) {
			if d.Key == "key-2" {
				return nil, errors.New("no")
			}
			return []byte("repaired"), nil
		}
		c := deadletter.TopicConfig{Config: deadletter.Config{Repair: repair}}
		fromTopic(t, b, s, c, deadletter.Report{Matched: 2, Refused: 1, Failed: 1})
		c.Name, c.AllowSecondEffect = "again", true
		fromTopic(t, b, s, c, deadletter.Report{Matched: 2, Redriven: 1, Failed: 1})
		m := b.Messages(target)[0]
		if string(m.Value) != "repaired" || slices.Contains(texts(m.Headers), "fingerprint") {
			t.Errorf("%s %v", m.Value, texts(m.Headers))
		}
	})
}

// Offsets without a message at the end do not keep it waiting, nor does an empty topic.
func TestFromATopicEndsAtItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := topics(t)
		s := memory.New(memory.Config{})
		fromTopic(t, b, s, deadletter.TopicConfig{}, deadletter.Report{})
		b.Publish(t.Context(), []broker.Message{dead(1)})
		if err := b.Skip(broker.TopicPartition{Topic: dlq}, 5); err != nil {
			t.Fatal(err)
		}
		fromTopic(t, b, s, deadletter.TopicConfig{}, deadletter.Report{Matched: 1, Redriven: 1})
	})
}

// faulty fails as it is told.
type faulty struct {
	*broker.Memory
	fail func(m *broker.Message) error
}

func (f *faulty) Publish(ctx context.Context, messages []broker.Message) []error {
	errs := make([]error, len(messages))
	for i := range messages {
		if errs[i] = f.fail(&messages[i]); errs[i] == nil {
			f.Memory.Publish(ctx, messages[i:i+1])
		}
	}
	return errs
}

func TestFault05_nothingIsCommittedPastWhatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := topics(t, dead(1), dead(2), dead(3))
		s := memory.New(memory.Config{})
		down := true
		f := &faulty{b, func(m *broker.Message) error {
			if down && string(m.Headers[0].Value) == "key-2" {
				return errDown
			}
			return nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		report, err := deadletter.FromTopic(ctx, f, s, campaign(deadletter.TopicConfig{}))
		if !errors.Is(err, context.DeadlineExceeded) || report.Redriven != 0 {
			t.Errorf("%+v %v", report, err)
		}
		if offset, ok := b.Committed("payments.redrive.test", broker.TopicPartition{Topic: dlq}); ok && offset > 1 {
			t.Errorf("committed %d past message 2", offset)
		}
		if got := redriven(b); !slices.Equal(got, []string{"key-1", "key-3"}) {
			t.Errorf("%v: what is confirmed is published again while the rest is tried", got)
		}
		down = false
		fromTopic(t, f, s, deadletter.TopicConfig{}, deadletter.Report{Matched: 3, Redriven: 3})
		if got := slices.Compact(redriven(b)); !slices.Equal(got, []string{"key-1", "key-2", "key-3"}) {
			t.Errorf("%v", got)
		}
	})
}

// flakyRecords cannot be read at first.
type flakyRecords struct {
	*memory.Store
	bad int
}

func (f *flakyRecords) Records(ctx context.Context, scope string, keys []string) ([]*store.Record, error) {
	if f.bad > 0 {
		f.bad--
		return nil, errDown
	}
	return f.Store.Records(ctx, scope, keys)
}

func TestRebalancesAndAStoreThatFailsLoseNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var letters []broker.Message
		for n := range 100 {
			letters = append(letters, dead(n))
		}
		b := topics(t, letters...)
		s := &flakyRecords{memory.New(memory.Config{}), 3}
		c := campaign(deadletter.TopicConfig{Config: deadletter.Config{Rate: 10, Limit: -1}})
		ended := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := deadletter.FromTopic(t.Context(), b, s, c)
				ended <- err
			}()
		}
		for range 6 {
			time.Sleep(1300 * time.Millisecond)
			b.Rebalance("payments.redrive.test")
		}
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if got := slices.Compact(redriven(b)); len(got) != 100 {
			t.Errorf("%d of 100 redriven", len(got))
		}
	})
}

func TestFromTopicChecks(t *testing.T) {
	t.Parallel()
	s := memory.New(memory.Config{})
	b := broker.NewMemory(broker.MemoryConfig{})
	for word, c := range map[string]deadletter.TopicConfig{
		"Scope":                 {Origin: origin, Name: "n"},
		"Origin":                {Scope: scope, Name: "n"},
		"name the campaign":     {Scope: scope, Origin: origin},
		"whose topic it is":     {Scope: scope, Origin: origin, Name: "n", Filter: store.DeadLetterFilter{Scope: "x"}},
		"filter by Reason":      {Scope: scope, Origin: origin, Name: "n", Filter: store.DeadLetterFilter{Outcome: "CONFLICT"}},
		"more than 249":         {Scope: scope, Origin: strings.Repeat("o", 240), Name: "n"},
		"circle":                {Scope: scope, Origin: origin, Name: "n", Alias: map[string]string{"a": "a"}},
		"Batch":                 {Scope: scope, Origin: origin, Name: "n", Config: deadletter.Config{Batch: -1}},
		"orders.dlq.payments\"": {Scope: scope, Origin: origin, Name: "n"}, // which does not exist
	} {
		if _, err := deadletter.FromTopic(t.Context(), b, s, c); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v, want %q", err, word)
		}
	}
	if _, err := deadletter.FromTopic(t.Context(), nil, s, campaign(deadletter.TopicConfig{})); err == nil {
		t.Error("no broker is accepted")
	}
	if _, err := deadletter.FromTopic(t.Context(), b, nil, campaign(deadletter.TopicConfig{})); err == nil {
		t.Error("no records are accepted")
	}
}
