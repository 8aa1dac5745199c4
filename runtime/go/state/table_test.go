package state_test

import (
	"context"
	"database/sql"
	"runtime"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/state"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckNamesTheFieldAndTheMend(t *testing.T) {
	t.Parallel()
	valid := func() *state.Table {
		return &state.Table{Name: "shop.orders", ID: "id", Status: "status", Version: "v", LastKey: "k"}
	}
	require.NoError(t, valid().Check())
	for name, c := range map[string]struct {
		change func(*state.Table)
		want   string
	}{
		"no name":        {func(t *state.Table) { t.Name = "" }, `Name is ""`},
		"three parts":    {func(t *state.Table) { t.Name = "a.b.c" }, `"schema.table" is needed`},
		"quote in name":  {func(t *state.Table) { t.Name = `orders" WHERE 1=1 --` }, "a name is [A-Za-z_]"},
		"no id":          {func(t *state.Table) { t.ID = "" }, `ID is ""`},
		"blank status":   {func(t *state.Table) { t.Status = "the status" }, "Status is"},
		"digit first":    {func(t *state.Table) { t.Version = "1v" }, "Version is"},
		"NUL":            {func(t *state.Table) { t.LastKey = "k\x00" }, "LastKey is"},
		"one column":     {func(t *state.Table) { t.LastKey = "status" }, "Status and LastKey are both column"},
		"state without":  {func(t *state.Table) { t.Values = map[string]any{"": 0} }, "missing or NULL"},
		"value twice":    {func(t *state.Table) { t.Values = map[string]any{"A": 1, "B": "1"} }, "for both A and B"},
		"creator":        {func(t *state.Table) { t.Creates = 9 }, "Creates is 9"},
		"dialect":        {func(t *state.Table) { t.Dialect = 9 }, "Dialect is 9"},
		"name too long":  {func(t *state.Table) { t.ID = string(make([]byte, 64)) }, "at most 63 bytes"},
		"letters beyond": {func(t *state.Table) { t.ID = "größe" }, "ID is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := valid()
			c.change(table)
			assert.ErrorContains(t, table.Check(), c.want)
		})
	}
}

func TestWrongCallsAreNamed(t *testing.T) {
	t.Parallel()
	table, m := orders(), machineOf(t, edges)
	_, err := table.Apply(t.Context(), "no transaction", moveOf(m, "o1", "k", "PAYING", "PAID"))
	require.ErrorContains(t, err, "*sql.Tx or pgx.Tx is needed")
	_, err = table.Read(t.Context(), 7, moveOf(m, "o1", "k", "PAYING", "PAID"))
	require.ErrorContains(t, err, "*pgxpool.Pool is needed")
	_, err = table.Apply(t.Context(), nil, state.Move{ID: "o1"})
	require.ErrorContains(t, err, "IdemVerdict")
	_, err = table.Apply(t.Context(), nil, moveOf(m, "", "k", "PAYING", "PAID"))
	require.ErrorContains(t, err, "Move.ID is empty")
	partial := orders()
	partial.Values = map[string]any{"PAYING": 1}
	_, err = partial.Apply(t.Context(), (*sql.Tx)(nil), moveOf(m, "o1", "k", "PAYING", "PAID"))
	require.ErrorContains(t, err, "nothing for the state PAID")
}

func TestColumnThatIsNotThereIsAnErrorOnSQLiteToo(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		require.NoError(t, db.exec(ordersTable))
		table := orders()
		table.ID = "no_such_column"
		_, err := db.apply(t.Context(), table, moveOf(machineOf(t, edges), "o1", "k", "PAYING", "PAID"))
		require.ErrorContains(t, err, "no_such_column")
	})
}

// TestSecondMoverWaitsWhileTheFirstDecides stops the first mover between its lock and its update, which is when
// a second one would decide on a state that is about to go.
func TestSecondMoverWaitsWhileTheFirstDecides(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, db database) {
		if db.name != "postgres" {
			t.Skip("SQLite has one writer at a time")
		}
		require.NoError(t, db.exec(ordersTable))
		require.NoError(t, db.exec("INSERT INTO orders (order_id, version) VALUES ('o1', 0)"))
		m, table := machineOf(t, edges), orders()
		second := make(chan state.Result, 1)
		first := moveOf(m, "o1", "k1", "", "CREATED")
		verdict := first.Verdict
		first.Verdict = func(current string) (idem.Verdict, error) {
			go func() {
				r, err := db.apply(context.Background(), table, moveOf(m, "o1", "k2", "", "CREATED"))
				assert.NoError(t, err)
				second <- r
			}()
			const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%orders%FOR UPDATE'"
			for db.get(waiting) == "0" && len(second) == 0 {
				runtime.Gosched()
			}
			return verdict(current)
		}
		r, err := db.apply(t.Context(), table, first)
		require.NoError(t, err)
		assert.Equal(t, idem.VerdictApply, r.Verdict)
		assert.Equal(t, state.Result{Verdict: idem.VerdictDuplicate, Current: "CREATED", Superseded: true, SupersededBy: "k1"}, <-second)
		assert.Equal(t, "1", db.get("SELECT version FROM orders"))
	})
}

func execIn(tx any, query string, args ...any) error {
	if tx, ok := tx.(pgx.Tx); ok {
		_, err := tx.Exec(context.Background(), query, args...)
		return err
	}
	_, err := tx.(*sql.Tx).Exec(query, args...)
	return err
}
