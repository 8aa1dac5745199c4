package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// Tables are what an operator works on in every database.
type Tables interface {
	store.Store
	store.DeadLetters
	store.DeadLetterPages
	store.Retries
	store.OperationLog
	store.Outbox
	store.Lookup
	store.Audit
}

// Store is a store that is open.
type Store struct {
	Database
	Tables
	close func()
}

// Close closes it.
func (s *Store) Close() { s.close() }

// Operator is what PostgreSQL has to change beside Tables.
func (s *Store) Operator() (store.Operator, error) {
	if o, ok := s.Tables.(store.Operator); ok {
		return o, nil
	}
	return nil, errors.New("this command line changes no deliveries to come and no leases of a SQLite file: use PostgreSQL, or sqlite3 on the tables of `idem sql --dialect sqlite`")
}

// Open opens a store, and checks that its tables are there. With readOnly the server refuses changes too.
func (d Database) Open(ctx context.Context, readOnly bool) (*Store, error) {
	s, err := d.open(ctx, opening{readOnly: readOnly, application: "idem-cli"})
	if readOnly && refusedSetting(err) {
		// The commands that only read do so without it, too.
		s, err = d.open(ctx, opening{application: "idem-cli"})
	}
	return s, d.named(err)
}

// Serve opens a store for a program that stays, under a name that the server's list of sessions shows.
func (d Database) Serve(ctx context.Context, application string, retention time.Duration) (*Store, error) {
	s, err := d.open(ctx, opening{application: application, retention: retention})
	return s, d.named(err)
}

// named says which store an error is of, without its password.
func (d Database) named(err error) error {
	if err == nil {
		return nil
	}
	err = Hide(err, d.DSN)
	if d.Name != "" {
		err = fmt.Errorf("store %s: %w", d.Name, err)
	}
	return err
}

// opening says how to open.
type opening struct {
	readOnly    bool
	application string
	retention   time.Duration
}

func (d Database) open(ctx context.Context, how opening) (*Store, error) {
	if file, ok := strings.CutPrefix(d.DSN, "sqlite:"); ok {
		return d.openSQLite(strings.TrimPrefix(file, "//"), how)
	}
	if scheme, _, ok := strings.Cut(d.DSN, "://"); ok && scheme != "postgres" && scheme != "postgresql" {
		return nil, fmt.Errorf("the database's URL begins with %q: use postgres:// or sqlite:", scheme)
	}
	config, err := pgxpool.ParseConfig(d.DSN)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	if how.readOnly {
		config.ConnConfig.RuntimeParams[readOnlySetting] = "on"
	}
	config.ConnConfig.RuntimeParams["application_name"] = how.application
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	s, err := postgres.New(pool, postgres.Config{Retention: how.retention})
	if err != nil {
		pool.Close()
		return nil, err
	}
	if err = s.Check(ctx); how.readOnly && errors.Is(err, postgres.ErrReadOnly) {
		err = nil
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Store{d, s, pool.Close}, nil
}

// openSQLite opens a file that is there: the store would make one.
func (d Database) openSQLite(file string, how opening) (*Store, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", file)
	} else if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(file, sqlite.Config{Retention: how.retention, NoMigrate: true})
	if err != nil {
		return nil, err
	}
	return &Store{d, s, func() { _ = s.Close() }}, nil
}

// Kind is the kind of database: postgres or sqlite.
func (d Database) Kind() string {
	if strings.HasPrefix(d.DSN, "sqlite:") {
		return "sqlite"
	}
	return "postgres"
}

// Place is the database in words that a person may see: its name, or its host and database.
func (d Database) Place() string {
	if d.Name != "" {
		return d.Name
	}
	if strings.HasPrefix(d.DSN, "sqlite:") {
		return d.DSN
	}
	if config, err := pgxpool.ParseConfig(d.DSN); err == nil {
		c := config.ConnConfig
		place := url.URL{Scheme: "postgres", Host: fmt.Sprintf("%s:%d", c.Host, c.Port), Path: "/" + c.Database}
		return Redact(place.String(), d.DSN)
	}
	return "the database"
}
