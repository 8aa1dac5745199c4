package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

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
	s, err := d.open(ctx, readOnly)
	if readOnly && refusedSetting(err) {
		// The commands that only read do so without it, too.
		s, err = d.open(ctx, false)
	}
	if err == nil {
		return s, nil
	}
	err = Hide(err, d.DSN)
	if d.Name != "" {
		err = fmt.Errorf("store %s: %w", d.Name, err)
	}
	return nil, err
}

func (d Database) open(ctx context.Context, readOnly bool) (*Store, error) {
	if file, ok := strings.CutPrefix(d.DSN, "sqlite:"); ok {
		return d.openSQLite(strings.TrimPrefix(file, "//"))
	}
	if scheme, _, ok := strings.Cut(d.DSN, "://"); ok && scheme != "postgres" && scheme != "postgresql" {
		return nil, fmt.Errorf("the database's URL begins with %q: use postgres:// or sqlite:", scheme)
	}
	config, err := pgxpool.ParseConfig(d.DSN)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	if readOnly {
		config.ConnConfig.RuntimeParams[readOnlySetting] = "on"
	}
	config.ConnConfig.RuntimeParams["application_name"] = "idem-cli"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	s, err := postgres.New(pool, postgres.Config{})
	if err != nil {
		pool.Close()
		return nil, err
	}
	version, err := s.TableVersion(ctx)
	if err == nil && version == 0 {
		err = fmt.Errorf("the database has no tables of idem: `idem migrate up` makes them, or name the schema, as in ?search_path=idem")
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &Store{d, s, pool.Close}, nil
}

// openSQLite opens a file that is there: the store would make one.
func (d Database) openSQLite(file string) (*Store, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", file)
	} else if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(file, sqlite.Config{})
	if err != nil {
		return nil, err
	}
	return &Store{d, s, func() { _ = s.Close() }}, nil
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
