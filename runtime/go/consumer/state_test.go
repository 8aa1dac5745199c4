package consumer

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/state"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// paid and shipped move an order: CREATED -> PAID -> SHIPPED.
type paid struct{ wrapperspb.StringValue }

type shipped struct{ wrapperspb.StringValue }

var orderStates = func() *idem.Machine {
	m, err := idem.MachineOf([]idem.Edge{{From: "CREATED", To: "PAID"}, {From: "PAID", To: "SHIPPED"}, {From: "CREATED", To: "CANCELLED"}})
	if err != nil {
		panic(err)
	}
	return m
}()

func (*paid) IdemEventType() string           { return "paid" }
func (m *paid) IdemBizKey() (string, error)   { return m.GetValue(), nil }
func (*paid) IdemTransition() idem.Transition { return idem.Transition{From: "CREATED", To: "PAID"} }
func (*paid) IdemVerdict(current string) (idem.Verdict, error) {
	return orderStates.Verdict(current, "CREATED", "PAID")
}
func (*shipped) IdemEventType() string           { return "shipped" }
func (m *shipped) IdemBizKey() (string, error)   { return m.GetValue(), nil }
func (*shipped) IdemTransition() idem.Transition { return idem.Transition{From: "PAID", To: "SHIPPED"} }
func (*shipped) IdemVerdict(current string) (idem.Verdict, error) {
	return orderStates.Verdict(current, "PAID", "SHIPPED")
}

func ordersTable() *state.Table {
	return &state.Table{Name: "orders", ID: "id", Status: "status", Version: "version", LastKey: "last_key", Dialect: state.SQLite}
}

// orders is a database with four orders in it.
func orders(t *testing.T, db *sql.DB) {
	t.Helper()
	_, err := db.Exec(`CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1, last_key TEXT, note TEXT)`)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO orders (id, status) VALUES ('o1', 'CREATED'), ('o2', 'CREATED'), ('o3', 'CANCELLED'), ('o4', 'PAID')`)
	require.NoError(t, err)
}

func orderOf(t *testing.T, db *sql.DB, id string) string {
	t.Helper()
	var status, key, note sql.NullString
	var version int
	require.NoError(t, db.QueryRow(`SELECT status, version, last_key, note FROM orders WHERE id = $1`, id).Scan(&status, &version, &key, &note))
	return fmt.Sprintf("%s v%d %s%s", status.String, version, key.String, note.String)
}

func openSQLite(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestStateGuard: STATE-010 to STATE-013, in each mode, on the store's database and on another one. It runs in real
// time, since SQLite waits outside of a bubble.
func TestStateGuard(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		other bool // the table is not in the store's database
		paid  func(db any, calls *tally) Handler
		ships func(db any) Handler
		calls bool
	}{
		"Tx": {calls: true, paid: func(_ any, calls *tally) Handler {
			return Tx(func(ctx context.Context, tx *sql.Tx, m *paid) error {
				calls.add(m.GetValue())
				_, err := tx.ExecContext(ctx, `UPDATE orders SET note = coalesce(note, '') || ' charged' WHERE id = $1`, m.GetValue())
				return err
			}, Route{State: ordersTable()})
		}, ships: func(any) Handler {
			return Tx(func(context.Context, *sql.Tx, *shipped) error { return nil }, Route{State: ordersTable()})
		}},
		"Idempotent": {calls: true, paid: func(_ any, calls *tally) Handler {
			return Idempotent(func(_ context.Context, m *paid) error { calls.add(m.GetValue()); return nil }, Route{State: ordersTable()})
		}, ships: func(any) Handler {
			return Idempotent(func(context.Context, *shipped) error { return nil }, Route{State: ordersTable()})
		}},
		"Idempotent elsewhere": {other: true, calls: true, paid: func(db any, calls *tally) Handler {
			return Idempotent(func(_ context.Context, m *paid) error { calls.add(m.GetValue()); return nil }, Route{State: ordersTable(), StateDB: db})
		}, ships: func(db any) Handler {
			return Idempotent(func(context.Context, *shipped) error { return nil }, Route{State: ordersTable(), StateDB: db})
		}},
		"Guarded": {paid: func(any, *tally) Handler {
			return Guarded(ordersTable(), func(m *paid) any { return m.GetValue() }, func(_ context.Context, m *paid) (map[string]any, error) {
				return map[string]any{"note": " charged"}, nil
			})
		}, ships: func(any) Handler { return Guarded[*shipped](ordersTable(), nil, nil) }},
		"Guarded elsewhere": {other: true, paid: func(db any, _ *tally) Handler {
			return Guarded(ordersTable(), func(m *paid) any { return m.GetValue() }, nil, Route{StateDB: db})
		}, ships: func(db any) Handler { return Guarded[*shipped](ordersTable(), nil, nil, Route{StateDB: db}) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "orders.db")
			db := openSQLite(t, path)
			orders(t, db)
			w := &world{T: t, broker: broker.NewMemory(broker.MemoryConfig{MaxWait: 10 * time.Millisecond}), seen: new(recorder)}
			w.topic("payments", 1)
			var s store.Store = memory.New(memory.Config{})
			var stateDB any
			if c.other {
				stateDB = db
			} else {
				lite, err := sqlite.Open(path, sqlite.Config{Synchronous: sqlite.Normal})
				require.NoError(t, err)
				t.Cleanup(func() { _ = lite.Close() })
				s = lite
			}
			var calls tally
			config := w.config()
			config.Log = nil
			w.runOn(w.broker, s, config, c.paid(stateDB, &calls), c.ships(stateDB))
			send := func(event, key, order string) {
				value, err := proto.Marshal(wrapperspb.String(order))
				require.NoError(t, err)
				w.sendRaw("payments", event, key, order, value, idem.Header{Name: "backoff_jitter", Value: []byte("0")})
			}
			outcome := func(key, want string) {
				t.Helper()
				require.Eventually(t, func() bool {
					got := w.seen.outcomes(key)
					return len(got) > 0 && got[len(got)-1] == want
				}, 20*time.Second, 5*time.Millisecond, "%s: %v", key, func() any { return w.seen.outcomes(key) })
			}
			send("paid", "p1", "o1")
			outcome("p1", "OK/ACK")
			send("paid", "p1-again", "o1")
			outcome("p1-again", "DUPLICATE/ACK")
			send("paid", "p3", "o3")
			outcome("p3", "CONFLICT/DEAD_LETTER")
			send("shipped", "s2", "o2") // before it is paid
			outcome("s2", "OUT_OF_ORDER/HOLD")
			send("paid", "p2", "o2")
			outcome("p2", "OK/ACK")
			outcome("s2", "OK/ACK")

			note := map[bool]string{true: " charged"}[name == "Tx" || name == "Guarded"]
			require.Equal(t, "PAID v2 p1"+note, orderOf(t, db, "o1"))
			require.Equal(t, "SHIPPED v3 s2"+note, orderOf(t, db, "o2"))
			require.Equal(t, "CANCELLED v1 ", orderOf(t, db, "o3"))
			if c.calls {
				require.Equal(t, []string{"o1", "o2"}, calls.list(), "no call for what the state refuses")
			}
			require.Equal(t, 1, w.seen.count(func(d *observe.Delivery) bool {
				return d.Superseded && d.SupersededBy == "p1" && d.Key == "p1-again" && d.Layer == observe.LayerState
			}))
			require.Equal(t, 1, w.seen.count(func(d *observe.Delivery) bool { return d.Layer != observe.LayerNone }), "what moved has no layer")
		})
	}
}

func TestSupersededIsDeadLetteredWhereTheRouteSaysSo(t *testing.T) {
	t.Parallel()
	v := mover{onSuperseded: DeadLetter, id: ID(func(m *paid) any { return "row " + m.GetValue() })}
	move, err := v.move(new(guard.Delivery), &paid{})
	require.NoError(t, err)
	require.True(t, move.Transition.DeadLetterSuperseded)
	require.Equal(t, "row ", move.ID)
	v.onSuperseded = Acknowledge
	move, err = v.move(new(guard.Delivery), &paid{})
	require.NoError(t, err)
	require.False(t, move.Transition.DeadLetterSuperseded)
}
