package main

import (
	"context"
	"fmt"

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

// add comes after the flags of the filter.
func (f *listFlags) add(command *cobra.Command, after string) {
	f.operateFlags.add(command)
	f.watchFlags.add(command)
	offerScopes(command, &f.place)
	command.Flags().IntVar(&f.limit, "limit", 50, "at most so many of each store")
	command.Flags().Int64Var(&f.after, "after", 0, after)
}

func (f *listFlags) check() error {
	if f.limit < 1 {
		return fmt.Errorf("--limit %d: it is at least 1", f.limit)
	}
	return f.watchFlags.check()
}

// sheet says how rows of a kind are shown.
type sheet[T any] struct {
	head []string
	none string // where there are none: "no dead letters"
	row  func(*T) []string
	json func(store string, row *T) any
	id   func(*T) int64
	// once, if any, tells rows apart: with --watch each is written once in JSON.
	once func(*T) any
}

// list shows a page of each store: once, or as long as somebody looks.
func (s *sheet[T]) list(ctx context.Context, std streams, f *listFlags, stores []*connect.Store, read func(s *connect.Store, limit int) ([]T, error)) error {
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
		if !f.json() {
			s.pages(std, f.limit, stores, pages)
			return nil
		}
		for i, page := range pages {
			for j := range page[:min(len(page), f.limit)] {
				if s.once != nil && f.watch {
					at := place{i, s.once(&page[j])}
					if shown[at] {
						continue
					}
					shown[at] = true
				}
				if err := show.Line(std.out, s.json(stores[i].Name, &page[j])); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// pages is a table of all stores.
func (s *sheet[T]) pages(std streams, limit int, stores []*connect.Store, pages [][]T) {
	head := s.head
	if len(stores) > 1 {
		head = append([]string{"STORE"}, head...)
	}
	var rows [][]string
	for i, page := range pages {
		for _, row := range s.rows(page[:min(len(page), limit)]) {
			if len(stores) > 1 {
				row = append([]string{stores[i].Name}, row...)
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		fmt.Fprintln(std.err, s.none)
		return
	}
	show.Table(std.out, head, rows)
	for i, page := range pages {
		if len(page) > limit {
			fmt.Fprintf(std.err, "there are more in %s: --after %d\n", stores[i].Place(), s.id(&page[limit-1]))
		}
	}
}

func (s *sheet[T]) rows(page []T) [][]string {
	rows := make([][]string, len(page))
	for i := range page {
		rows[i] = s.row(&page[i])
	}
	return rows
}

// sampleSize is how much of a selection is shown.
const sampleSize = 10

// sample shows the first rows of a selection, and how many there are.
func (s *sheet[T]) sample(std streams, asJSON bool, store string, rows []T, all int) error {
	first := rows[:min(len(rows), sampleSize)]
	if asJSON {
		for i := range first {
			if err := show.Line(std.out, s.json(store, &first[i])); err != nil {
				return err
			}
		}
		return nil
	}
	show.Table(std.out, s.head, s.rows(first))
	if rest := all - len(first); rest > 0 {
		fmt.Fprintf(std.out, "and %d more\n", rest)
	}
	return nil
}
