package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
)

// listFlags are those of commands that list rows of stores.
type listFlags struct {
	operateFlags
	watchFlags
	limit int
	after int64
}

func (f *listFlags) add(command *cobra.Command, after string) {
	f.operateFlags.add(command)
	f.watchFlags.add(command)
	command.Flags().IntVar(&f.limit, "limit", 50, "at most so many, of all stores together")
	command.Flags().Int64Var(&f.after, "after", 0, after)
}

func (f *listFlags) check() error {
	if f.limit < 1 || f.limit > mostRows {
		return fmt.Errorf("--limit %d: it is 1 to %d", f.limit, mostRows)
	}
	return f.watchFlags.check()
}

// openStores opens the stores: one where the list goes on behind an id, which is an id of that store.
func (f *listFlags) openStores(ctx context.Context) ([]*connect.Store, func(), error) {
	stores, closeAll, err := f.openAll(ctx)
	if err == nil && f.after != 0 && len(stores) > 1 {
		closeAll()
		return nil, nil, errors.New("--after is an id of one store: say which by --store")
	}
	return stores, closeAll, err
}

// sheet says how rows of a kind are shown.
type sheet[T any] struct {
	head []string
	none string // where there are none: "no dead letters"
	row  func(*T) []string
	json func(store string, row *T) any
	id   func(*T) int64
	// order is that of rows of several stores.
	order func(a, b *T) int
	// once, if any, tells rows apart: with --watch each is written once in JSON.
	once func(*T) any
}

// placed is a row, and the number of its store.
type placed[T any] struct {
	store int
	row   *T
}

// list shows a page of all stores: once, or as long as somebody looks. why, if any, says why there are no rows.
func (s *sheet[T]) list(ctx context.Context, std streams, f *listFlags, stores []*connect.Store, why func() string, read func(s *connect.Store, limit int) ([]T, error)) error {
	type place struct {
		store int
		row   any
	}
	shown := map[place]bool{}
	return f.watchFlags.run(ctx, std, func() error {
		pages := make([][]T, len(stores))
		for i, at := range stores {
			var err error
			// One more than is shown, to know whether there are more.
			if pages[i], err = read(at, f.limit+1); err != nil {
				return unreached(ctx, err, at.DSN)
			}
		}
		rows := s.merge(pages, f.limit)
		if len(rows) == 0 {
			s.tellNone(std, f, why)
			return nil
		}
		if !f.json() {
			s.table(std, stores, rows)
			tellMore(std, s, stores, pages, rows)
			return nil
		}
		for _, r := range rows {
			if s.once != nil && f.watch {
				at := place{r.store, s.once(r.row)}
				if shown[at] {
					continue
				}
				shown[at] = true
			}
			if err := show.Line(std.out, s.json(stores[r.store].Name, r.row)); err != nil {
				return err
			}
		}
		return nil
	})
}

// merge gives the first rows of all pages. Those of one page stay in their order.
func (s *sheet[T]) merge(pages [][]T, limit int) (rows []placed[T]) {
	next := make([]int, len(pages))
	for len(rows) < limit {
		first := -1
		for i, page := range pages {
			if next[i] < len(page) && (first < 0 || s.order(&page[next[i]], &pages[first][next[first]]) < 0) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		rows = append(rows, placed[T]{first, &pages[first][next[first]]})
		next[first]++
	}
	return rows
}

// tellNone says that there are no rows. With --output json and --watch, where nobody looks, it is quiet.
func (s *sheet[T]) tellNone(std streams, f *listFlags, why func() string) {
	switch {
	case f.json() && f.watch:
	case why == nil:
		fmt.Fprintln(std.err, s.none)
	default:
		fmt.Fprintln(std.err, s.none+why())
	}
}

// table is a table of the rows of all stores.
func (s *sheet[T]) table(std streams, stores []*connect.Store, rows []placed[T]) {
	head := s.head
	if len(stores) > 1 {
		head = append([]string{"STORE"}, head...)
	}
	cells := make([][]string, len(rows))
	for i, r := range rows {
		if cells[i] = s.row(r.row); len(stores) > 1 {
			cells[i] = append([]string{stores[r.store].Name}, cells[i]...)
		}
	}
	show.Table(std.out, head, cells)
}

// tellMore says of which stores there are more rows, and how to see them.
func tellMore[T any](std streams, s *sheet[T], stores []*connect.Store, pages [][]T, rows []placed[T]) {
	seen := make([]int, len(stores))
	for _, r := range rows {
		seen[r.store]++
	}
	for i, at := range stores {
		if seen[i] == len(pages[i]) {
			continue
		}
		var how []string
		if len(stores) > 1 {
			how = append(how, "--store "+at.Name)
		}
		if seen[i] > 0 {
			how = append(how, fmt.Sprintf("--after %d", s.id(&pages[i][seen[i]-1])))
		}
		fmt.Fprintf(std.err, "there are more in %s: %s\n", at.Place(), strings.Join(how, " "))
	}
}

func (s *sheet[T]) rows(page []T) [][]string {
	rows := make([][]string, len(page))
	for i := range page {
		rows[i] = s.row(&page[i])
	}
	return rows
}

// keyWidth is how much of a key a table shows: nearly always all of it, so that it can be copied.
const keyWidth = 200

// cutKey continues the error of a key that is not known, where a table has cut it.
func cutKey(keys ...string) string {
	if slices.ContainsFunc(keys, func(key string) bool { return strings.HasSuffix(key, "…") }) {
		return "; a key that ends in … was cut: --output json has it whole"
	}
	return ""
}

// sampleSize is how much of a selection is shown.
const sampleSize = 10

// sample shows the first rows of a selection, and how many there are; for a program all that it is given.
func (s *sheet[T]) sample(std streams, asJSON bool, store string, rows []T, all int) error {
	if asJSON {
		for i := range rows {
			if err := show.Line(std.out, s.json(store, &rows[i])); err != nil {
				return err
			}
		}
		return nil
	}
	first := rows[:min(len(rows), sampleSize)]
	show.Table(std.out, s.head, s.rows(first))
	if rest := all - len(first); rest > 0 {
		fmt.Fprintf(std.out, "and %d more\n", rest)
	}
	return nil
}
