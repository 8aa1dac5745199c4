package retry_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
)

// flaky loses the replies of the store, and fails, at random.
type flaky struct {
	store.Retries
	random *rand.Rand
}

func (f *flaky) lost(err error) error {
	if f.random.IntN(4) == 0 {
		return broker.ErrReplyLost
	}
	return err
}

func (f *flaky) ClaimDue(ctx context.Context, token string, limit int, lease time.Duration) ([]store.Retry, error) {
	rows, err := f.Retries.ClaimDue(ctx, token, limit, lease)
	if err = f.lost(err); err != nil {
		return nil, err
	}
	return rows, nil
}

func (f *flaky) MarkPublished(ctx context.Context, marks []store.Mark) ([]bool, error) {
	if f.random.IntN(4) == 0 {
		return nil, errDown
	}
	ok, err := f.Retries.MarkPublished(ctx, marks)
	return ok, f.lost(err)
}

func (f *flaky) Postpone(ctx context.Context, marks []store.Mark, due time.Duration) error {
	if f.random.IntN(4) == 0 {
		return errDown
	}
	return f.lost(f.Retries.Postpone(ctx, marks, due))
}

// Whatever fails, each row is published at least once in the end, and none stays.
func TestNoRowIsLostWhateverFails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1))
				w := newWorld(t, 3)
				w.fault = func(*broker.Message) (f broker.PublishFault) {
					switch random.IntN(6) {
					case 0:
						f.Err = errDown
					case 1:
						f.Err, f.Delivered = broker.ErrReplyLost, true
					}
					return f
				}
				var replicas []*retry.Scheduler
				for range 3 {
					s, err := retry.NewScheduler(&flaky{w.store, random}, w.broker, retry.Config{Batch: 5, Now: w.Now, Log: quiet})
					if err != nil {
						t.Fatal(err)
					}
					replicas = append(replicas, s)
				}
				const rows = 40
				for n := range rows {
					put(t, w.store, row(n, time.Duration(random.IntN(30))*time.Second))
				}
				for range 600 {
					_, _ = replicas[random.IntN(3)].Step(t.Context()) // its errors are those that are planted
					w.Add(time.Duration(random.IntN(2000)) * time.Millisecond)
				}
				got := published(w.broker, target)
				if c, _ := w.store.CountRetries(t.Context()); c.Pending != 0 || len(got) != rows {
					t.Errorf("%d rows left, %d of %d published", c.Pending, len(got), rows)
				}
			})
		})
	}
}
