package state

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// Table is the user's table that holds the states: one row an object. Share one Table by its address; its
// fields do not change after the first use.
type Table struct {
	// Name is the table's, "orders" or with its schema "shop.orders", exactly as the database has it: names
	// are quoted, so that case counts on PostgreSQL.
	Name string
	// ID is the column that Move.ID selects a row by. It has to be unique.
	ID string
	// Status is the column of the state. It holds the text of the state, as a text or an enum of the
	// database, or what Values says.
	Status string
	// Version, if any, is an integer column that each move raises by 1. A row that is inserted has 1.
	Version string
	// LastKey, if any, is a text column that keeps the idempotency key of the last move. Mode Guarded needs
	// it. (STATE-013)
	LastKey string
	// Values maps the texts of states to what the status column holds, where that is something else, such as
	// an integer: {"CREATED": 1, "PAID": 2}. It has to have every state of the machine but "".
	Values map[string]any
	// Creates says who inserts the row of a transition from "". The default is HandlerCreates.
	Creates Creator
	// Dialect is found out at the first need where it is zero.
	Dialect Dialect

	// found is what was found out of the dialect, and texts the statements.
	found atomic.Uint32
	texts atomic.Pointer[statements]
}

// Creator is who inserts a row that is not there.
type Creator uint8

// The creators.
const (
	// HandlerCreates leaves the insert to the handler, in the same transaction. The guard answers APPLY, and on
	// PostgreSQL holds a lock on the object (pg_advisory_xact_lock), so that of two creations at once the second
	// waits and then finds the row.
	HandlerCreates Creator = iota
	// GuardCreates has the guard insert ID, Status, Version, LastKey and the columns of Move.Set.
	GuardCreates
)

// Dialect is what a database understands.
type Dialect uint8

// The dialects.
const (
	PostgreSQL Dialect = 1 + iota
	SQLite
)

// maxName is the longest identifier that PostgreSQL does not cut.
const maxName = 63

// Check says what is wrong with the table's description. It does not ask the database. Apply and Read call
// it too, at their first use.
func (t *Table) Check() error {
	_, err := t.statements()
	return err
}

func (t *Table) check() error {
	parts := strings.Split(t.Name, ".")
	if len(parts) > 2 {
		return fmt.Errorf(`state table: Name is %q: "table" or "schema.table" is needed`, t.Name)
	}
	for _, part := range parts {
		if err := checkName("Name", part); err != nil {
			return err
		}
	}
	columns := map[string]string{}
	for _, c := range []struct {
		field, name string
		needed      bool
	}{{"ID", t.ID, true}, {"Status", t.Status, true}, {"Version", t.Version, false}, {"LastKey", t.LastKey, false}} {
		if c.name == "" && !c.needed {
			continue
		}
		if err := checkName(c.field, c.name); err != nil {
			return err
		}
		if other, twice := columns[c.name]; twice {
			return fmt.Errorf("state table %s: %s and %s are both column %q: each needs its own", t.Name, other, c.field, c.name)
		}
		columns[c.name] = c.field
	}
	if t.Creates > GuardCreates {
		return fmt.Errorf("state table %s: Creates is %d: HandlerCreates or GuardCreates is needed", t.Name, t.Creates)
	}
	if t.Dialect > SQLite {
		return fmt.Errorf("state table %s: Dialect is %d: PostgreSQL, SQLite or 0 is needed", t.Name, t.Dialect)
	}
	return nil
}

// checkName keeps names to what needs no thought about quoting.
func checkName(field, name string) error {
	ok := name != "" && len(name) <= maxName
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && c >= '0' && c <= '9'
	}
	if !ok {
		return fmt.Errorf("state table: %s is %q: a name is [A-Za-z_][A-Za-z0-9_]*, at most %d bytes", field, name, maxName)
	}
	return nil
}

// values are the two directions of Table.Values. A nil map is the identity.
func (t *Table) states() (map[string]string, error) {
	if t.Values == nil {
		return nil, nil
	}
	states := make(map[string]string, len(t.Values))
	for state, value := range t.Values {
		if state == "" {
			return nil, fmt.Errorf(`state table %s: Values has the state "": it is a row that is missing or NULL, and has no value`, t.Name)
		}
		text := fmt.Sprint(value)
		if other, twice := states[text]; twice {
			return nil, fmt.Errorf("state table %s: Values has %s for both %s and %s", t.Name, text, min(state, other), max(state, other))
		}
		states[text] = state
	}
	return states, nil
}
