package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Store keeps everything in one file. Its methods may be called from several goroutines.
type Store struct {
	config Config
	// writer has one connection, and each transaction on it begins as a writing one.
	writer, reader *sql.DB
	writes, reads  statements
}

var _ store.Full[*sql.Tx] = (*Store)(nil)

// Open opens the file at path, makes it where it is not there, and migrates it, unless Config.NoMigrate. Its
// directory has to be there. Errors wrap ErrCannotOpen, ErrReadOnly, ErrLocked, ErrNotDatabase, ErrFull or ErrSchema.
func Open(path string, config Config) (*Store, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	if path == "" || path == ":memory:" {
		return nil, fmt.Errorf("open sqlite %q: the store keeps a file, and needs its path; store/memory keeps nothing", path)
	}
	s := &Store{config: config}
	if err := s.open(path); err != nil {
		return nil, errors.Join(named("open sqlite "+path, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(path string) (err error) {
	synchronous := "FULL"
	if s.config.Synchronous == Normal {
		synchronous = "NORMAL"
	}
	// busy_timeout comes first: the others may have to wait already.
	settings := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", s.config.BusyTimeout.Milliseconds()),
		"synchronous(" + synchronous + ")",
	}, "_txlock": {"immediate"}}
	if s.config.NoMigrate {
		settings.Set("mode", "rw") // which makes no file
	} else {
		settings.Add("_pragma", "journal_mode(WAL)")
	}
	file := "file:" + (&url.URL{Path: path}).EscapedPath() + "?"
	if s.writer, err = sql.Open("sqlite", file+settings.Encode()); err != nil {
		return err
	}
	s.writer.SetMaxOpenConns(1)
	s.writer.SetConnMaxIdleTime(0)
	if err := s.migrate(context.Background()); err != nil {
		return err
	}
	settings = url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", s.config.BusyTimeout.Milliseconds()), "query_only(1)",
	}}
	if s.reader, err = sql.Open("sqlite", file+settings.Encode()); err != nil {
		return err
	}
	s.reader.SetMaxOpenConns(s.config.Readers)
	s.reader.SetMaxIdleConns(s.config.Readers)
	if s.writes, err = prepare(s.writer); err != nil {
		return err
	}
	s.reads, err = prepare(s.reader)
	return err
}

// Close closes the file. Transactions that are open fail.
func (s *Store) Close() error {
	var err error
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// FollowUps is true: FAILED and what follows from it are one transaction. (DEDUP-021)
func (s *Store) FollowUps() bool { return true }

// Check takes the writer for a moment, and looks at the tables. Its errors are those of Open.
func (s *Store) Check(ctx context.Context) error {
	return s.write(ctx, func() string { return "check the sqlite store" }, func(w *writer) error {
		return checkSchema(ctx, w.tx)
	})
}

// now is the present in the resolution of the tables.
func (s *Store) now() time.Time { return time.UnixMilli(s.config.Now().UnixMilli()).UTC() }
