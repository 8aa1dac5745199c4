package idemtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idem-spec/idem/runtime/go/internal/seam"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// Store is what a World opens its store with. Memory, SQLite and StoreOf make one.
type Store struct {
	open func(t *testing.T) (*opened, error)
}

// Full is a store without the type of its transactions.
type Full interface {
	store.Store
	store.Retries
	store.DeadLetters
	store.Outbox
}

type opened struct {
	store   Full
	process func(h seam.Hook) store.Store // a process's connection to it
	query   func(ctx context.Context, text string) ([]string, error)
}

// Memory is a store of package memory, whose transactions are *memory.Tx.
func Memory() Store {
	return StoreOf(func(*testing.T) (store.Full[*memory.Tx], error) { return memory.New(memory.Config{}), nil })
}

// SQLite is a fresh file for each world, with the tables that the statements make: those that the handler writes.
// Its transactions are *sql.Tx, as PostgreSQL's are by postgres.SQL.
func SQLite(statements ...string) Store {
	return StoreOf(func(t *testing.T) (store.Full[*sql.Tx], error) {
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "idemtest.db"), sqlite.Config{Synchronous: sqlite.Normal})
		if err != nil {
			return nil, err
		}
		err = s.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			for _, text := range statements {
				if _, err := tx.ExecContext(ctx, text); err != nil {
					return fmt.Errorf("%s: %w", text, err)
				}
			}
			return nil
		})
		if err != nil {
			return nil, errors.Join(err, s.Close()) // or its goroutines keep the bubble from ending
		}
		return s, nil
	})
}

// StoreOf is a store of one's own, opened for each world within its bubble: so what it waits for has to be in the
// bubble too, and its clock has to be time.Now. It is closed when the world ends.
func StoreOf[Tx any](open func(t *testing.T) (store.Full[Tx], error)) Store {
	return Store{func(t *testing.T) (*opened, error) {
		s, err := open(t)
		if err != nil {
			return nil, err
		}
		return &opened{
			store:   s,
			process: func(h seam.Hook) store.Store { return seam.Store(s, h) },
			query: func(ctx context.Context, text string) (rows []string, err error) {
				err = s.InTx(ctx, func(ctx context.Context, tx Tx) error {
					rows, err = query(ctx, tx, text)
					return err
				})
				return rows, err
			},
		}, nil
	}}
}

// query reads the one column of a query as text.
func query(ctx context.Context, tx any, text string) (found []string, err error) {
	t, ok := tx.(*sql.Tx)
	if !ok {
		return nil, fmt.Errorf("query %q: the store's transactions are %T: use idemtest.SQLite, or effects that are no Query", text, tx)
	}
	rows, err := t.QueryContext(ctx, text)
	if err != nil && strings.Contains(err.Error(), "no such table") {
		return nil, fmt.Errorf("query %q: %w: give it to idemtest.SQLite(\"CREATE TABLE ...\") as the Store", text, err)
	}
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			return nil, fmt.Errorf("query %q: it has to give one column of text: %w", text, err)
		}
		found = append(found, column)
	}
	return found, rows.Err()
}
