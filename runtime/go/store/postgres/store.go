package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/store"
)

// Store is a store.Full whose handlers get a pgx.Tx.
type Store struct {
	core
	pool  *pgxpool.Pool
	owned bool
}

// SQL is a store.Full whose handlers get a *sql.Tx.
type SQL struct {
	core
	db *sql.DB
}

var (
	_ store.Full[pgx.Tx]  = (*Store)(nil)
	_ store.Full[*sql.Tx] = (*SQL)(nil)
)

// DefaultConns is how many connections are enough for a consumer's 16 handlers, each of which holds one for its
// transaction, and for what claims, settles and schedules beside them. pgx's own default is 4, or one for each
// processor: handlers that wait in them let claims and settlements starve.
const DefaultConns = 24

// New makes a store on a pool of the caller's, which Close leaves open. It should have more connections than
// handlers run at a time: see DefaultConns. Nothing is asked of the server before
// the first call; Check and Migrate are good ones.
func New(pool *pgxpool.Pool, config Config) (*Store, error) {
	if pool == nil {
		return nil, errors.New("postgres.New: the pool is nil: pgxpool.New makes one, and postgres.Open makes one with the store")
	}
	if err := checkMode(pool.Config().ConnConfig); err != nil {
		return nil, fmt.Errorf("postgres.New: %w", err)
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Store{core: newCore(poolConnector{pool}, config), pool: pool}, nil
}

// Open makes a store with a pool of its own, which Close closes, and checks nothing yet. dsn is a URL or
// key=value pairs, "postgres://user@host:5432/shop?search_path=idem"; what it leaves out comes from the
// environment (PGHOST, PGPASSWORD). The pool has at most DefaultConns connections, unless dsn has pool_max_conns.
func Open(ctx context.Context, dsn string, config Config) (*Store, error) {
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		c.MaxConns = max(c.MaxConns, DefaultConns)
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	s, err := New(pool, config)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.owned = true
	return s, nil
}

// NewSQL makes a store on a *sql.DB of the caller's, which Close leaves open. Its driver has to be that of
// github.com/jackc/pgx/v5/stdlib.
func NewSQL(db *sql.DB, config Config) (*SQL, error) {
	if db == nil {
		return nil, errors.New(`postgres.NewSQL: the database is nil: sql.Open("pgx", dsn) makes one`)
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &SQL{core: newCore(sqlConnector{db}, config), db: db}, nil
}

// checkMode refuses the one way of pgx to send statements in which the server is not told the types of arrays: each
// claim would fail, with words that say nothing of it.
func checkMode(c *pgx.ConnConfig) error {
	if c.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
		return errors.New("the connection's default_query_exec_mode is simple_protocol, which cannot send arrays: use exec, which prepares no statements either, as PgBouncer may want it")
	}
	return nil
}

// Close closes the pool that Open has made.
func (s *Store) Close() error {
	if s.owned {
		s.pool.Close()
	}
	return nil
}

// Close does nothing: the database is the caller's.
func (s *SQL) Close() error { return nil }

// FollowUps is true: FAILED and what follows from it are one transaction. (DEDUP-021)
func (*core) FollowUps() bool { return true }
