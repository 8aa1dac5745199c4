//go:build unix

package faults

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/idem"
	torturev1 "github.com/idem-spec/idem/runtime/go/internal/torture/gen/torture/v1"
	"github.com/idem-spec/idem/runtime/go/payload"
	"github.com/idem-spec/idem/runtime/go/state"
)

// TestChecklistReversedOrder: the three moves of an order arrive last one first, each of them twice. Those that are
// early are held, at no retry, until the state is theirs; the order makes each move once, in order.
func TestChecklistReversedOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	const orders = 12
	w.exec(`CREATE TABLE orders (id text PRIMARY KEY, status text NOT NULL, version bigint NOT NULL, last_key text NOT NULL)`)
	// What happened to the rows, as the database saw it.
	w.exec(`CREATE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO effect (key, worker) VALUES (NEW.last_key, NEW.status); RETURN NEW; END $$`)
	w.exec(`CREATE TRIGGER moved AFTER INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION moved()`)

	table := &state.Table{Name: "orders", ID: "id", Status: "status", Version: "version", LastKey: "last_key", Creates: state.GuardCreates}
	w.start(w.store, w.config(),
		consumer.Guarded[*torturev1.OrderCreated](table, nil, nil),
		consumer.Guarded[*torturev1.OrderPaid](table, nil, nil),
		consumer.Guarded[*torturev1.OrderShipped](table, nil, nil),
	)
	moves := make([][]broker.Message, 3)
	for i := range orders {
		order := fmt.Sprint("o", i)
		for n, m := range []payload.Keyed{&torturev1.OrderCreated{Order: order, Note: "n"}, &torturev1.OrderPaid{Order: order, Note: "n"}, &torturev1.OrderShipped{Order: order, Note: "n"}} {
			made, err := payload.Message(w.Topic, m, payload.Options{})
			require.NoError(t, err)
			moves[n] = append(moves[n], made, made)
		}
	}
	early := func(outcomes int) {
		w.until(func() string {
			if n := w.seen.outcomes(idem.OutcomeOutOfOrder); n < outcomes {
				return fmt.Sprintf("%d holds of %d", n, outcomes)
			}
			return ""
		})
	}
	w.send(moves[2]...)
	early(orders)
	w.send(moves[1]...)
	early(2 * orders)
	require.Empty(t, w.effects())
	w.send(moves[0]...)
	for i := range w.produced {
		p := &w.produced[i]
		for n, batch := range moves {
			at := slices.IndexFunc(batch, func(m broker.Message) bool { return header(m.Headers, "idempotency_key") == p.Key })
			if at >= 0 {
				p.Lane, p.Seq = header(batch[at].Headers, "biz_key"), int64(n)
			}
		}
		require.NotEmpty(t, p.Lane)
	}
	w.judge()
	require.Len(t, w.effects(), 3*orders)
	require.Equal(t, orders, w.count(`SELECT count(*) FROM orders WHERE status = 'SHIPPED' AND version = 3`))
	require.Empty(t, w.letters())
	for _, d := range w.seen.deliveries {
		require.Zero(t, d.Counts.Retry, "to be early costs no retry")
	}
}
