package idemtest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/timestamppb"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/idemtest"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func words(found []idemtest.Finding) string {
	var all []string
	for _, f := range found {
		all = append(all, f.String())
	}
	return strings.Join(all, "\n")
}

func TestAnEffectOutsideTheTransactionIsFound(t *testing.T) {
	t.Parallel()
	var outside idemtest.Recorder
	found := idemtest.Find(t, idemtest.Case{
		Handlers: []consumer.Handler{consumer.Tx(func(_ context.Context, _ *memory.Tx, m *refundsv1.RefundAsked) error {
			outside.Add("paid " + m.GetOrderId())
			return nil
		})},
		Messages: refunds(t)[:2],
		Effects:  &outside,
	})
	all := words(found)
	for _, point := range []idemtest.Point{idemtest.AfterHandler, idemtest.BeforeBusinessCommit} {
		assert.Contains(t, all, `effect "paid order-1" happened twice in place of once`)
		assert.Contains(t, all, fmt.Sprintf("killed %s of refunds.asked:v1:order-1", point))
	}
	for _, f := range found { // what is committed is not done again, and what has not begun was not done before
		assert.Equal(t, 1, f.Want, f)
		if strings.HasPrefix(f.Schedule, "stopped") { // and goes on where it was
			continue
		}
		for _, point := range []idemtest.Point{idemtest.AfterBusinessCommit, idemtest.BeforeHandler, idemtest.BeforeOffsetCommit} {
			assert.NotContains(t, f.Schedule, point)
		}
	}
}

// A transaction of its own, on the same tables: a real one, and a real mistake.
func TestATransactionOfItsOwnIsFound(t *testing.T) {
	t.Parallel()
	found := idemtest.Find(t, idemtest.Case{
		Setup: func(w *idemtest.World) []consumer.Handler {
			own := w.Store().(store.Transactor[*sql.Tx])
			return []consumer.Handler{consumer.Idempotent(func(ctx context.Context, m *refundsv1.RefundAsked) error {
				return own.InTx(ctx, func(ctx context.Context, tx *sql.Tx) error { return pay(ctx, tx, m) })
			})}
		},
		Store:    idemtest.SQLite(`CREATE TABLE refund (order_id TEXT NOT NULL, amount TEXT NOT NULL)`),
		Messages: refunds(t)[:1],
		Effects:  idemtest.Query(`SELECT order_id || ' ' || amount FROM refund`),
	})
	require.NotEmpty(t, found)
	assert.Equal(t, "order-1 100.00", found[0].Effect)
	assert.Equal(t, 2, found[0].Got)
	assert.Contains(t, found[0].Schedule, "killed AfterHandler of refunds.asked:v1:order-1")
}

// A handler that keeps its own list of what it has done, in the memory of its process, forgets to do it.
func TestAnEffectThatGetsLostIsFound(t *testing.T) {
	t.Parallel()
	var paid idemtest.Recorder
	found := idemtest.Find(t, idemtest.Case{
		Setup: func(*idemtest.World) []consumer.Handler {
			done := map[string]bool{}
			return []consumer.Handler{consumer.Tx(func(ctx context.Context, tx *memory.Tx, m *refundsv1.RefundAsked) error {
				if done[m.GetOrderId()] {
					return nil
				}
				done[m.GetOrderId()] = true
				tx.Do(func() { paid.Add("paid " + m.GetOrderId()) })
				return nil
			})}
		},
		Consumer: consumer.Config{Workers: 1},
		Messages: refunds(t)[:1],
		Effects:  &paid,
	})
	assert.Contains(t, words(found), `effect "paid order-1" got lost: killed AfterHandler`)
}

func TestEffectsThatDependOnTheOrderAreFound(t *testing.T) {
	t.Parallel()
	at := timestamppb.New(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	messages := []broker.Message{ // of one order, so in one partition
		refunds(t)[0],
		idemtest.Message(t, "refunds", &refundsv1.RefundAsked{OrderId: "order-1", Amount: "5", Currency: "USD", AskedAt: timestamppb.New(at.AsTime().Add(time.Second))}),
	}
	c := func() idemtest.Case {
		var told idemtest.Recorder
		return idemtest.Case{
			Setup: func(*idemtest.World) []consumer.Handler {
				last := "nothing"
				return []consumer.Handler{consumer.Tx(func(_ context.Context, tx *memory.Tx, m *refundsv1.RefundAsked) error {
					tx.Do(func() {
						told.Add(m.GetAmount() + " after " + last)
						last = m.GetAmount()
					})
					return nil
				})}
			},
			Consumer: consumer.Config{Workers: 1},
			Messages: messages,
			Effects:  &told,
		}
	}
	reversed := `effect "5 after nothing" happened once, and does not where nothing goes wrong: the messages came in reverse`
	assert.Contains(t, words(idemtest.Find(t, c())), reversed)
	inOrder := c()
	inOrder.InOrder = true
	assert.NotContains(t, words(idemtest.Find(t, inOrder)), reversed)
}

func TestADeadLetterThatNobodyExpectsIsFound(t *testing.T) {
	t.Parallel()
	var paid idemtest.Recorder
	found := idemtest.Find(t, idemtest.Case{
		Setup: func(*idemtest.World) []consumer.Handler {
			calls := map[string]int{}
			return []consumer.Handler{consumer.Tx(func(_ context.Context, tx *memory.Tx, m *refundsv1.RefundAsked) error {
				if calls[m.GetOrderId()]++; calls[m.GetOrderId()] > 1 {
					return idem.NonRetryable("SEEN", errors.New("I have seen this one"))
				}
				tx.Do(func() { paid.Add("paid " + m.GetOrderId()) })
				return nil
			})}
		},
		Consumer: consumer.Config{Workers: 1},
		Messages: refunds(t)[:1],
		Effects:  &paid,
	})
	assert.Contains(t, words(found), "message refunds.asked:v1:order-1:2000-01-01T00:00:00.000Z became a dead letter (SEEN: I have seen this one): killed AfterHandler")
}

func TestDeadLettersOfATopicCountToo(t *testing.T) {
	t.Parallel()
	var paid idemtest.Recorder
	c := idemtest.Case{
		Handlers: []consumer.Handler{consumer.Tx(func(_ context.Context, tx *memory.Tx, m *refundsv1.RefundAsked) error {
			if m.GetCurrency() != "USD" {
				return idem.NonRetryable("CURRENCY", errors.New("we pay back dollars alone"))
			}
			tx.Do(func() { paid.Add("paid " + m.GetOrderId()) })
			return nil
		})},
		Consumer: consumer.Config{Guard: guard.Config{DeadLetterTopic: true}},
		Messages: refunds(t),
		Effects:  &paid,
	}
	idemtest.Check(t, c)
	synctest.Test(t, func(t *testing.T) {
		w := idemtest.New(t, idemtest.Config{Handlers: c.Handlers, Consumer: c.Consumer})
		w.Publish(c.Messages...)
		w.Run()
		assert.Len(t, w.Messages("refunds.dlq.idemtest"), 1)
		assert.Empty(t, w.DeadLetters())
	})
}

// What a handler publishes by the outbox is there once, under its key, whatever happens.
func TestMessagesOfTheOutboxAreEffects(t *testing.T) {
	t.Parallel()
	idemtest.Check(t, idemtest.Case{
		Setup: func(w *idemtest.World) []consumer.Handler {
			box, err := outbox.New(w.Store(), w.Broker(), outbox.Config{})
			require.NoError(t, err)
			s := w.Store().(store.Transactor[*memory.Tx])
			return []consumer.Handler{consumer.Tx(func(ctx context.Context, tx *memory.Tx, m *refundsv1.RefundAsked) error {
				next := refunds(t)[0]
				next.Topic = "paid"
				next.Headers = idem.Headers{{Name: "idempotency_key", Value: []byte("paid:" + guard.KeyOf(ctx))}}
				return outbox.PublishTx(ctx, box, s, tx, next)
			})}
		},
		Messages: refunds(t)[:2],
		Effects:  idemtest.Published("paid"),
	})
}

func TestEveryPointIsReached(t *testing.T) {
	t.Parallel()
	for _, point := range idemtest.Points() {
		synctest.Test(t, func(t *testing.T) {
			w := idemtest.New(t, idemtest.Config{Handlers: []consumer.Handler{
				consumer.Tx(func(_ context.Context, _ *memory.Tx, m *refundsv1.RefundAsked) error { return nil }),
			}})
			w.Arm(idemtest.Fault{At: idemtest.BeforeBusinessCommit, Kind: idemtest.Fail}) // so that there is a retry
			w.Arm(idemtest.Fault{At: point, Kind: idemtest.Fail})
			w.Publish(refunds(t)[0])
			w.Run()
			assert.Equal(t, 2, w.Hits(), point)
			assert.Equal(t, idem.StateSuccess, w.Record(string(refunds(t)[0].Headers[0].Value)).State, point)
		})
	}
}

func TestAWorldThatDoesNotComeToRestSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	var paid idemtest.Recorder
	found := idemtest.Find(t, idemtest.Case{
		Setup: func(*idemtest.World) []consumer.Handler {
			calls := 0
			return []consumer.Handler{consumer.Tx(func(ctx context.Context, tx *memory.Tx, m *refundsv1.RefundAsked) error {
				if calls++; calls > 1 {
					return idem.Throttled(7*24*3600*1e9, errors.New("next week"))
				}
				tx.Do(func() { paid.Add("paid " + m.GetOrderId()) })
				return nil
			})}
		},
		Limit:    10 * time.Minute,
		Messages: refunds(t)[:1],
		Effects:  &paid,
	})
	assert.Contains(t, words(found), "the world does not come to rest within 10m0s: 1 retries wait")
}
