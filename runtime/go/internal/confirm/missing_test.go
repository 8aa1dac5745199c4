package confirm

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
)

// searching looks for 5 seconds for a topic that is not there, as Kafka's clients do.
type searching struct {
	there []string
	calls []string
}

func (s *searching) Publish(ctx context.Context, messages []broker.Message) []error {
	var errs []error
	var topics []string
	for i := range messages {
		topics = append(topics, messages[i].Topic)
		if !slices.Contains(s.there, messages[i].Topic) {
			if errs == nil {
				errs = make([]error, len(messages))
				time.Sleep(5 * time.Second)
			}
			errs[i] = fmt.Errorf("publish: %w", broker.ErrUnknownTopic)
		}
	}
	s.calls = append(s.calls, strings.Join(topics, ""))
	return errs
}

func to(topics string) (messages []broker.Message) {
	for _, t := range strings.Split(topics, "") {
		messages = append(messages, broker.Message{Topic: t})
	}
	return messages
}

func TestWhatIsForAMissingTopicIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &searching{there: []string{"a", "b"}}
		errs := Publish(t.Context(), s, to("axbxy"), nil, time.Minute)
		if at := failures(errs); !slices.Equal(at, []int{1, 3, 4}) || !slices.Equal(s.calls, []string{"axbxy"}) {
			t.Errorf("failed %v, calls %v", at, s.calls)
		}
	})
}

func TestAMissingTopicIsLookedForNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &searching{there: []string{"a"}}
		m := NewMissing(s, 30*time.Second)
		begin := time.Now()
		for _, c := range []struct {
			topics string
			failed []int
			after  time.Duration
		}{
			{"aa", nil, 0},
			{"ax", []int{1}, 5 * time.Second},
			{"xax", []int{0, 2}, 5 * time.Second},
			{"x", []int{0}, 5 * time.Second},
			{"aa", nil, 5 * time.Second},
			{"xy", []int{0, 1}, 10 * time.Second},
		} {
			errs := m.Publish(t.Context(), to(c.topics))
			if at := failures(errs); !slices.Equal(at, c.failed) || time.Since(begin) != c.after {
				t.Errorf("%s: failed %v after %v, want %v after %v", c.topics, at, time.Since(begin), c.failed, c.after)
			}
			for _, err := range errs {
				if err != nil && !errors.Is(err, broker.ErrUnknownTopic) {
					t.Errorf("%s: %v", c.topics, err)
				}
			}
		}
		time.Sleep(30 * time.Second)
		s.there = append(s.there, "x")
		if errs := m.Publish(t.Context(), to("xa")); errs != nil {
			t.Errorf("the topic is there: %v", errs)
		}
	})
}

func TestMissingKeepsAWrongAnswerWrong(t *testing.T) {
	t.Parallel()
	m := NewMissing(wrongCount{}, time.Minute)
	m.until["x"] = time.Now().Add(time.Hour)
	errs := Publish(t.Context(), m, to("xaa"), []Span{{0, 3}}, time.Second)
	if len(failures(errs)) != 3 {
		t.Errorf("%v", errs)
	}
}
