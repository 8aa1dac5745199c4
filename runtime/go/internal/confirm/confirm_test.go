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

var errBad = errors.New("too large")

// publisher confirms nothing of a call that has a bad message, as a broker that refuses the whole batch.
type publisher struct {
	bad   func(value string) bool
	calls int
	log   []string
}

func (p *publisher) Publish(_ context.Context, messages []broker.Message) []error {
	p.calls++
	for i := range messages {
		if p.bad(string(messages[i].Value)) {
			errs := make([]error, len(messages))
			for i := range errs {
				errs[i] = errBad
			}
			return errs
		}
	}
	for i := range messages {
		p.log = append(p.log, string(messages[i].Value))
	}
	return nil
}

func numbered(n int) []broker.Message {
	messages := make([]broker.Message, n)
	for i := range messages {
		messages[i] = broker.Message{Topic: "t", Value: fmt.Appendf(nil, "%d", i)}
	}
	return messages
}

func failures(errs []error) (at []int) {
	for i, err := range errs {
		if err != nil {
			at = append(at, i)
		}
	}
	return at
}

func TestABadMessageIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	for _, bad := range [][]string{{"0"}, {"57"}, {"199"}, {"3", "4"}, {"10", "100", "150"}} {
		p := &publisher{bad: func(v string) bool { return slices.Contains(bad, v) }}
		errs := Publish(t.Context(), p, numbered(200), nil, time.Second)
		var at []string
		for _, i := range failures(errs) {
			at = append(at, fmt.Sprint(i))
		}
		if !slices.Equal(at, bad) {
			t.Errorf("failed %v, want %v", at, bad)
		}
		if len(p.log) != 200-len(bad) {
			t.Errorf("%v: %d published", bad, len(p.log))
		}
	}
}

func TestOneCallWhereAllIsWell(t *testing.T) {
	t.Parallel()
	p := &publisher{bad: func(string) bool { return false }}
	if errs := Publish(t.Context(), p, numbered(200), nil, time.Second); errs != nil || p.calls != 1 {
		t.Errorf("%v after %d calls", errs, p.calls)
	}
	if errs := Publish(t.Context(), p, nil, nil, time.Second); errs != nil || p.calls != 1 {
		t.Errorf("nothing to publish: %v after %d calls", errs, p.calls)
	}
}

func TestAnOutageEndsEarly(t *testing.T) {
	t.Parallel()
	p := &publisher{bad: func(string) bool { return true }}
	errs := Publish(t.Context(), p, numbered(200), nil, time.Second)
	if n := len(failures(errs)); n != 200 || p.calls != maxFruitless {
		t.Errorf("%d failed after %d calls, want 200 after %d", n, p.calls, maxFruitless)
	}
}

func TestAGroupKeepsItsOrder(t *testing.T) {
	t.Parallel()
	p := &publisher{bad: func(v string) bool { return v == "4" }}
	errs := Publish(t.Context(), p, numbered(9), []Span{{0, 3}, {3, 6}, {6, 9}}, time.Second)
	if at := failures(errs); !slices.Equal(at, []int{3, 4, 5}) {
		t.Errorf("failed %v, want the group of the bad one", at)
	}
	if !slices.Equal(p.log, []string{"0", "1", "2", "6", "7", "8"}) {
		t.Errorf("published %v", p.log)
	}
}

// partly confirms by index, and a later message of a group behind a failed one too, which it must not.
type partly struct{ calls int }

func (p *partly) Publish(_ context.Context, messages []broker.Message) []error {
	p.calls++
	errs := make([]error, len(messages))
	for i := range messages {
		if string(messages[i].Value) == "1" {
			errs[i] = errBad
		}
	}
	return errs
}

func TestNothingBehindAFailedMessageOfAGroupCounts(t *testing.T) {
	t.Parallel()
	errs := Publish(t.Context(), new(partly), numbered(3), []Span{{0, 3}}, time.Second)
	if errs[0] != nil || !errors.Is(errs[1], errBad) || !errors.Is(errs[2], broker.ErrBehindFailed) {
		t.Errorf("%v", errs)
	}
}

type wrongCount struct{}

func (wrongCount) Publish(context.Context, []broker.Message) []error { return []error{nil} }

func TestAnAnswerForAnotherNumberConfirmsNothing(t *testing.T) {
	t.Parallel()
	errs := Publish(t.Context(), wrongCount{}, numbered(2), []Span{{0, 2}}, time.Second)
	if len(errs) != 2 || errs[0] == nil || errs[1] == nil || !strings.Contains(errs[0].Error(), "answered for 1") {
		t.Errorf("%v", errs)
	}
}

type stalled struct{}

func (stalled) Publish(ctx context.Context, messages []broker.Message) []error {
	<-ctx.Done()
	errs := make([]error, len(messages))
	for i := range errs {
		errs[i] = ctx.Err()
	}
	return errs
}

func TestAStalledPublisherIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		begin := time.Now()
		errs := Publish(ctx, stalled{}, numbered(100), nil, 10*time.Second)
		if took := time.Since(begin); took != 25*time.Second || len(failures(errs)) != 100 {
			t.Errorf("%d failed after %v", len(failures(errs)), took)
		}
	})
}
