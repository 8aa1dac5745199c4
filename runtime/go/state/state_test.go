package state_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ordersTable = `CREATE TABLE orders (order_id VARCHAR(40) PRIMARY KEY, status VARCHAR(20), version BIGINT NOT NULL DEFAULT 1,
	last_idempotency_key VARCHAR(1024), amount BIGINT)`

func orders() *state.Table {
	return &state.Table{Name: "orders", ID: "order_id", Status: "status", Version: "version", LastKey: "last_idempotency_key"}
}

// edges are those of spec chapter 10, with a creation.
var edges = []idem.Edge{{From: "", To: "CREATED"}, {From: "CREATED", To: "PAYING"}, {From: "PAYING", To: "PAID"}, {From: "PAID", To: "REFUNDED"}, {From: "CREATED", To: "CANCELLED"}}

func machineOf(t testing.TB, edges []idem.Edge) *idem.Machine {
	m, err := idem.MachineOf(edges)
	require.NoError(t, err)
	return m
}

func moveOf(m *idem.Machine, id, key, from, to string) state.Move {
	return state.Move{
		ID: id, Key: key, Transition: idem.Transition{From: from, To: to},
		Verdict: func(current string) (idem.Verdict, error) { return m.Verdict(current, from, to) },
	}
}

func TestVerdictOfEachStateOfTheSpecsExample(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		m := machineOf(t, edges)
		for current, want := range map[string]struct {
			verdict idem.Verdict
			outcome idem.Outcome
			after   string
			version string
		}{
			"PAYING":    {idem.VerdictApply, idem.OutcomeOK, "PAID", "8"},
			"PAID":      {idem.VerdictDuplicate, idem.OutcomeDuplicate, "PAID", "7"},
			"REFUNDED":  {idem.VerdictDuplicate, idem.OutcomeDuplicate, "REFUNDED", "7"},
			"CREATED":   {idem.VerdictEarly, idem.OutcomeOutOfOrder, "CREATED", "7"},
			"CANCELLED": {idem.VerdictConflict, idem.OutcomeConflict, "CANCELLED", "7"},
		} {
			id := "o-" + current
			require.NoError(t, db.exec("INSERT INTO orders (order_id, status, version) VALUES ($1, $2, 7)", id, current))
			move := moveOf(m, id, "k", "PAYING", "PAID")
			read, err := orders().Read(t.Context(), db.source, move)
			require.NoError(t, err)
			assert.Equal(t, want.verdict, read.Verdict, current)
			r, err := db.apply(t.Context(), orders(), move)
			require.NoError(t, err)
			assert.Equal(t, want.verdict, r.Verdict, current)
			assert.Equal(t, current, r.Current)
			assert.Equal(t, want.outcome, idem.ResultOf(r.Err()).Outcome, current)
			assert.Equal(t, want.after, db.get("SELECT status FROM orders WHERE order_id = $1", id))
			assert.Equal(t, want.version, db.get("SELECT version FROM orders WHERE order_id = $1", id))
		}
		r, err := db.apply(t.Context(), orders(), moveOf(m, "nobody", "k", "PAYING", "PAID"))
		require.NoError(t, err)
		assert.Equal(t, state.Result{Verdict: idem.VerdictEarly, Missing: true}, r)
		assert.Equal(t, "OUT_OF_ORDER: the object does not exist", r.Err().Error())
	})
}

func TestRowThatIsThereWithoutAStateCountsAsMissing(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		require.NoError(t, db.exec("INSERT INTO orders (order_id) VALUES ('o1')"))
		m := machineOf(t, edges)
		r, err := db.apply(t.Context(), orders(), moveOf(m, "o1", "k", "CREATED", "PAYING"))
		require.NoError(t, err)
		assert.Equal(t, idem.VerdictEarly, r.Verdict)
		r, err = db.apply(t.Context(), orders(), moveOf(m, "o1", "k", "", "CREATED"))
		require.NoError(t, err)
		assert.Equal(t, state.Result{Verdict: idem.VerdictApply}, r)
		assert.Equal(t, "CREATED", db.get("SELECT status FROM orders"))
	})
}

func TestUnknownStateIsNamedAndRetryable(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		require.NoError(t, db.exec("INSERT INTO orders (order_id, status) VALUES ('o1', 'SHIPPED')"))
		_, err := db.apply(t.Context(), orders(), moveOf(machineOf(t, edges), "o1", "k", "PAYING", "PAID"))
		require.Error(t, err)
		assert.Equal(t, idem.CodeStateUnknown, idem.CodeOf(err))
		result := idem.ResultOf(err)
		assert.Equal(t, idem.OutcomeRetryable, result.Outcome)
		assert.Contains(t, result.Reason, "STATE_UNKNOWN")
		assert.Contains(t, result.Reason, "SHIPPED")
	})
}

// STATE-011
func TestSupersededIsToldFromOnesOwnKey(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		require.NoError(t, db.exec("INSERT INTO orders (order_id, status) VALUES ('o1', 'PAYING')"))
		m := machineOf(t, edges)
		_, err := db.apply(t.Context(), orders(), moveOf(m, "o1", "first", "PAYING", "PAID"))
		require.NoError(t, err)

		own, err := db.apply(t.Context(), orders(), moveOf(m, "o1", "first", "PAYING", "PAID"))
		require.NoError(t, err)
		assert.Equal(t, state.Result{Verdict: idem.VerdictDuplicate, Current: "PAID"}, own)

		migrated := moveOf(m, "o1", "first-v2", "PAYING", "PAID")
		migrated.PreviousKey = "first"
		migrated.Transition.DeadLetterSuperseded = true
		r, err := db.apply(t.Context(), orders(), migrated)
		require.NoError(t, err)
		assert.False(t, r.Superseded)
		assert.False(t, r.DeadLetter)

		r, err = db.apply(t.Context(), orders(), moveOf(m, "o1", "second", "PAYING", "PAID"))
		require.NoError(t, err)
		assert.Equal(t, state.Result{Verdict: idem.VerdictDuplicate, Current: "PAID", Superseded: true, SupersededBy: "first"}, r)
		assert.Equal(t, idem.OutcomeDuplicate, idem.ResultOf(r.Err()).Outcome)

		strict := moveOf(m, "o1", "second", "PAYING", "PAID")
		strict.Transition.DeadLetterSuperseded = true
		r, err = db.apply(t.Context(), orders(), strict)
		require.NoError(t, err)
		assert.Equal(t, idem.Result{Outcome: idem.OutcomeNonRetryable, Reason: "SUPERSEDED: another key made the transition: first"}, idem.ResultOf(r.Err()))

		bare := orders()
		bare.LastKey = ""
		r, err = db.apply(t.Context(), bare, moveOf(m, "o1", "first", "PAYING", "PAID"))
		require.NoError(t, err)
		assert.True(t, r.Superseded, "without the column nothing tells one's own key")
	})
}

func TestGuardCreatesTheRowOnce(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		table := orders()
		table.Creates = state.GuardCreates
		move := moveOf(machineOf(t, edges), "o1", "k1", "", "CREATED")
		move.Set = map[string]any{"amount": int64(1200)}
		r, err := db.apply(t.Context(), table, move)
		require.NoError(t, err)
		assert.Equal(t, state.Result{Verdict: idem.VerdictApply, Missing: true}, r)
		assert.Equal(t, "CREATED 1 k1 1200", db.get("SELECT status || ' ' || version || ' ' || last_idempotency_key || ' ' || amount FROM orders"))
		move.Key = "k2"
		r, err = db.apply(t.Context(), table, move)
		require.NoError(t, err)
		assert.Equal(t, state.Result{Verdict: idem.VerdictDuplicate, Current: "CREATED", Superseded: true, SupersededBy: "k1"}, r)
	})
}

func TestSetIsWrittenWithTheMoveAndNotWithoutIt(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		require.NoError(t, db.exec("INSERT INTO orders (order_id, status, amount) VALUES ('o1', 'PAYING', 1)"))
		move := moveOf(machineOf(t, edges), "o1", "k1", "PAYING", "PAID")
		move.Set = map[string]any{"amount": int64(2)}
		_, err := db.apply(t.Context(), orders(), move)
		require.NoError(t, err)
		assert.Equal(t, "2", db.get("SELECT amount FROM orders"))
		move.Set = map[string]any{"amount": int64(3)}
		_, err = db.apply(t.Context(), orders(), move)
		require.NoError(t, err)
		assert.Equal(t, "2", db.get("SELECT amount FROM orders"))
		move.Set = map[string]any{"version": 9}
		_, err = db.apply(t.Context(), orders(), move)
		assert.ErrorContains(t, err, "the guard writes itself")
		move.Set = map[string]any{`a" = 1; DROP TABLE orders; --`: 9}
		_, err = db.apply(t.Context(), orders(), move)
		assert.ErrorContains(t, err, "a column of Move.Set is")
	})
}

func TestStatesThatAreNumbersOrEnums(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		m := machineOf(t, edges)
		check := func(table *state.Table) {
			move := moveOf(m, "o1", "k1", "PAYING", "PAID")
			r, err := table.Read(t.Context(), db.source, move)
			require.NoError(t, err)
			assert.Equal(t, idem.VerdictApply, r.Verdict)
			r, err = db.apply(t.Context(), table, move)
			require.NoError(t, err)
			assert.Equal(t, idem.VerdictApply, r.Verdict)
			r, err = db.apply(t.Context(), table, move)
			require.NoError(t, err)
			assert.Equal(t, state.Result{Verdict: idem.VerdictDuplicate, Current: "PAID", Superseded: true}, r)
		}
		require.NoError(t, db.exec("CREATE TABLE numbered (id VARCHAR(9) PRIMARY KEY, status SMALLINT)"))
		require.NoError(t, db.exec("INSERT INTO numbered VALUES ('o1', 2), ('o2', 77)"))
		numbered := &state.Table{Name: "numbered", ID: "id", Status: "status", Values: map[string]any{"CREATED": 1, "PAYING": 2, "PAID": 3, "REFUNDED": 4, "CANCELLED": 5}}
		check(numbered)
		assert.Equal(t, "3", db.get("SELECT status FROM numbered WHERE id = 'o1'"))
		_, err := db.apply(t.Context(), numbered, moveOf(m, "o2", "k1", "PAYING", "PAID"))
		require.ErrorContains(t, err, `"77", which Table.Values does not have`)
		assert.Contains(t, idem.ResultOf(err).Reason, "STATE_UNKNOWN")

		if db.name != "postgres" {
			return
		}
		require.NoError(t, db.exec("CREATE TYPE order_state AS ENUM ('CREATED', 'PAYING', 'PAID', 'REFUNDED', 'CANCELLED')"))
		require.NoError(t, db.exec("CREATE TABLE typed (id VARCHAR(9) PRIMARY KEY, status order_state)"))
		require.NoError(t, db.exec("INSERT INTO typed VALUES ('o1', 'PAYING')"))
		check(&state.Table{Name: "typed", ID: "id", Status: "status"})
	})
}

func TestErrorRollsNothingForward(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		require.NoError(t, db.exec("INSERT INTO orders (order_id, status) VALUES ('o1', 'PAYING')"))
		table, move, boom := orders(), moveOf(machineOf(t, edges), "o1", "k1", "PAYING", "PAID"), errors.New("handler")
		err := db.tx(t.Context(), func(tx any) error {
			r, err := table.Apply(t.Context(), tx, move)
			require.NoError(t, err)
			require.NoError(t, r.Err())
			return boom
		})
		require.ErrorIs(t, err, boom)
		assert.Equal(t, "PAYING", db.get("SELECT status FROM orders"))
	})
}

// TestAnswersAreTheMachinesOnRandomGraphs compares the guard with idem.Machine, move by move, on graphs that
// nobody drew.
func TestAnswersAreTheMachinesOnRandomGraphs(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		verdicts := map[idem.Verdict]int{}
		for round := range 25 {
			edges := randomEdges(random)
			m := machineOf(t, edges)
			table := orders()
			table.Creates = state.GuardCreates
			id, current, version, lastKey := fmt.Sprintf("o%d", round), "", 0, ""
			for step := range 12 {
				edge := edges[random.IntN(len(edges))]
				key := fmt.Sprintf("k%d", random.IntN(3))
				want, err := m.Verdict(current, edge.From, edge.To)
				require.NoError(t, err)
				r, err := db.apply(t.Context(), table, moveOf(m, id, key, edge.From, edge.To))
				require.NoError(t, err)
				require.Equal(t, want, r.Verdict, "round %d step %d: %q on %v", round, step, current, edge)
				require.Equal(t, current, r.Current)
				require.Equal(t, want == idem.VerdictDuplicate && lastKey != key, r.Superseded)
				verdicts[want]++
				if want == idem.VerdictApply {
					current, version, lastKey = edge.To, version+1, key
				}
				if version > 0 {
					require.Equal(t, current+" "+strconv.Itoa(version)+" "+lastKey,
						db.get("SELECT status || ' ' || version || ' ' || last_idempotency_key FROM orders WHERE order_id = $1", id))
				}
			}
		}
		assert.Len(t, verdicts, 4, "every verdict was met: %v", verdicts)
	})
}

// randomEdges is an acyclic graph over "" and up to six states: edges lead from lower to higher ones.
func randomEdges(random *rand.Rand) []idem.Edge {
	n := 3 + random.IntN(5)
	name := func(i int) string {
		if i == 0 {
			return ""
		}
		return "S" + strconv.Itoa(i)
	}
	edges := []idem.Edge{{From: "", To: name(1 + random.IntN(n-1))}}
	for a := range n {
		for b := a + 1; b < n; b++ {
			if random.IntN(3) == 0 {
				edges = append(edges, idem.Edge{From: name(a), To: name(b)})
			}
		}
	}
	return edges
}

// TestMoversAtOnceLoseNoUpdate has many move one row along a chain, each transition by two keys. Each is
// applied once: the version counts them.
func TestMoversAtOnceLoseNoUpdate(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		const length = 12
		chain := []idem.Edge{{From: "", To: "S1"}}
		for i := 1; i < length; i++ {
			chain = append(chain, idem.Edge{From: fmt.Sprintf("S%d", i), To: fmt.Sprintf("S%d", i+1)})
		}
		m := machineOf(t, chain)
		table := orders()
		table.Creates = state.GuardCreates
		var applied, superseded atomic.Int64
		var movers sync.WaitGroup
		for _, key := range []string{"a", "b"} {
			movers.Go(func() {
				for _, edge := range chain {
					for {
						r, err := db.apply(context.Background(), table, moveOf(m, "o1", key+edge.To, edge.From, edge.To))
						if err != nil && strings.Contains(err.Error(), "SQLITE_BUSY") {
							continue
						}
						if !assert.NoError(t, err) {
							return
						}
						switch r.Verdict {
						case idem.VerdictApply:
							applied.Add(1)
						case idem.VerdictDuplicate:
							superseded.Add(1)
						default:
							assert.Failf(t, "verdict", "%v on %q of %v", r.Verdict, r.Current, edge)
						}
						break
					}
				}
			})
		}
		movers.Wait()
		assert.EqualValues(t, length, applied.Load())
		assert.EqualValues(t, length, superseded.Load())
		assert.Equal(t, fmt.Sprintf("S%d %[1]d", length), db.get("SELECT status || ' ' || version FROM orders"))
	})
}

// TestHandlersThatCreateAtOnceInsertOnce has two handlers insert the row themselves: the second waits at the
// guard and finds it.
func TestHandlersThatCreateAtOnceInsertOnce(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		m := machineOf(t, edges)
		table := orders()
		var inserted, found atomic.Int64
		var handlers sync.WaitGroup
		for i := range 4 {
			handlers.Go(func() {
				for range 10 {
					for order := range 5 {
						id := fmt.Sprintf("o%d", order)
						move := moveOf(m, id, fmt.Sprintf("k%d", i), "", "CREATED")
						err := db.tx(context.Background(), func(tx any) error {
							r, err := table.Apply(context.Background(), tx, move)
							if err != nil {
								return err
							}
							if r.Verdict != idem.VerdictApply {
								found.Add(1)
								return nil
							}
							inserted.Add(1)
							return execIn(tx, "INSERT INTO orders (order_id, status) VALUES ($1, 'CREATED')", id)
						})
						if !assert.NoError(t, err) {
							return
						}
					}
				}
			})
		}
		handlers.Wait()
		assert.EqualValues(t, 5, inserted.Load())
		assert.EqualValues(t, 195, found.Load())
		assert.Equal(t, "5", db.get("SELECT count(*) FROM orders"))
	})
}
