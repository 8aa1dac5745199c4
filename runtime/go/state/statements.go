package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// statements are the texts for one table. The row goes by the alias g: SQLite takes a quoted name that is no
// column for a string, unless it stands behind a table's.
type statements struct {
	table  string // quoted
	states map[string]string
	read   string // status and last key of a row
	lock   string // the same, FOR UPDATE
	move   string // without further columns
	moveID string // the same, whatever the status: the row is locked, and was read
	insert string
}

func (t *Table) statements() (*statements, error) {
	if s := t.texts.Load(); s != nil {
		return s, nil
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	states, err := t.states()
	if err != nil {
		return nil, err
	}
	s := &statements{states: states, table: quote(strings.Split(t.Name, ".")...)}
	lastKey := "NULL"
	if t.LastKey != "" {
		lastKey = "g." + quote(t.LastKey)
	}
	s.read = fmt.Sprintf("SELECT g.%s, %s FROM %s AS g WHERE g.%s = $1", quote(t.Status), lastKey, s.table, quote(t.ID))
	s.lock = s.read + " FOR UPDATE"
	s.move, s.moveID = t.update(s.table, nil, true), t.update(s.table, nil, false)
	s.insert = t.insertion(s.table, nil)
	t.texts.CompareAndSwap(nil, s)
	return s, nil
}

// update is the text of a move. Its arguments are: to, key where there is LastKey, the further columns, ID,
// and from where conditional.
func (t *Table) update(table string, columns []string, conditional bool) string {
	var b strings.Builder
	n := 0
	arg := func() string { n++; return fmt.Sprintf("$%d", n) }
	fmt.Fprintf(&b, "UPDATE %s AS g SET %s = %s", table, quote(t.Status), arg())
	if t.LastKey != "" {
		fmt.Fprintf(&b, ", %s = %s", quote(t.LastKey), arg())
	}
	for _, c := range columns {
		fmt.Fprintf(&b, ", %s = %s", quote(c), arg())
	}
	if t.Version != "" {
		fmt.Fprintf(&b, ", %s = g.%[1]s + 1", quote(t.Version))
	}
	fmt.Fprintf(&b, " WHERE g.%s = %s", quote(t.ID), arg())
	if conditional {
		fmt.Fprintf(&b, " AND g.%s = %s", quote(t.Status), arg())
	}
	return b.String()
}

// insertion is the text of a creation: to, key where there is LastKey, the further columns, ID. It waits for
// another insert of the same ID, and inserts nothing where that was committed.
func (t *Table) insertion(table string, columns []string) string {
	names := []string{quote(t.Status)}
	if t.LastKey != "" {
		names = append(names, quote(t.LastKey))
	}
	for _, c := range columns {
		names = append(names, quote(c))
	}
	names = append(names, quote(t.ID))
	args := make([]string, len(names))
	for i := range args {
		args[i] = fmt.Sprintf("$%d", i+1)
	}
	if t.Version != "" {
		names, args = append(names, quote(t.Version)), append(args, "1")
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO NOTHING",
		table, strings.Join(names, ", "), strings.Join(args, ", "), quote(t.ID))
}

// columns are the names of Move.Set in order, checked.
func (t *Table) columns(set map[string]any) ([]string, error) {
	if len(set) == 0 {
		return nil, nil
	}
	names := slices.Sorted(maps.Keys(set))
	for _, name := range names {
		if err := checkName("a column of Move.Set", name); err != nil {
			return nil, err
		}
		if name == t.ID || name == t.Status || name == t.Version || name == t.LastKey {
			return nil, fmt.Errorf("state table %s: Move.Set has column %q, which the guard writes itself", t.Name, name)
		}
	}
	return names, nil
}

// quote is an identifier, or several joined by dots. Names were checked: there is no quote in them.
func quote(names ...string) string { return `"` + strings.Join(names, `"."`) + `"` }
