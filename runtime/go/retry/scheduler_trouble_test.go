package retry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

var errNoTable = errors.New("no table msg_retry")

// tableless has no table until a time.
type tableless struct {
	store.Retries
	until time.Time
}

func (s *tableless) ClaimDue(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Retry, error) {
	if time.Now().Before(s.until) {
		return nil, errNoTable
	}
	return s.Retries.ClaimDue(ctx, token, limit, lease)
}

// runFor runs a scheduler whose table is missing for 35 seconds, for a minute.
func runFor(t *testing.T, c retry.Config) {
	t.Helper()
	b := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
	defer b.Close()
	s, err := retry.NewScheduler(&tableless{memory.New(memory.Config{}), time.Now().Add(35 * time.Second)}, b, c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestWhatFailsInEachRoundIsLoggedOnceInTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		runFor(t, retry.Config{Log: slog.New(slog.NewTextHandler(&out, nil))})
		if n := strings.Count(out.String(), "level=ERROR"); n != 4 || strings.Count(out.String(), "works again") != 1 {
			t.Errorf("%d lines in 35 s:\n%s", n, out.String())
		}
	})
}

func TestTroubleIsToldInPlaceOfTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var bad, good int
		runFor(t, retry.Config{Log: slog.New(slog.NewTextHandler(&out, nil)), Trouble: func(err error) {
			switch {
			case err == nil:
				good++
			case errors.Is(err, errNoTable) && good == 0:
				bad++
			default:
				t.Errorf("after %d good rounds: %v", good, err)
			}
			panic("what is told changes nothing")
		}})
		if bad < 30 || good < 20 || out.Len() != 0 {
			t.Errorf("%d bad and %d good rounds, log %q", bad, good, out.String())
		}
	})
}

func TestTheGaugesNameTheStoreByDefault(t *testing.T) {
	t.Parallel()
	w, g := newWorld(t, 1), &gauge{}
	s, err := retry.NewScheduler(w.store, w.broker, retry.Config{Observer: g, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if name := g.labels[observe.RetriesPending].Store; name != "memory" {
		t.Errorf("store is %q", name)
	}
}
