package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idem-spec/idem/internal/operate/connect"
	spec "github.com/idem-spec/idem/spec/sql"
)

// Store is a PostgreSQL database that is being looked at.
type Store struct {
	connect.Database
	conn   *pgx.Conn
	pooled bool
	// tables is the version of the tables, 0 where there are none.
	tables   int
	settings map[string]dbSetting
	sample   *sample
}

// dbSetting is a setting of the server, and where it was set.
type dbSetting struct{ value, source string }

var statements = spec.PostgresStatements()

// OpenStore connects to a database. An error says that it cannot be asked.
func OpenStore(ctx context.Context, d connect.Database) (*Store, error) {
	conn, pooled, err := d.Look(ctx)
	if err != nil {
		return nil, err
	}
	s := &Store{Database: d, conn: conn, pooled: pooled, settings: map[string]dbSetting{}}
	if err := s.read(ctx); err != nil {
		s.Close()
		return nil, connect.Hide(err, d.DSN)
	}
	return s, nil
}

// Close closes the connection.
func (s *Store) Close() { _ = s.conn.Close(context.Background()) }

// read finds out what more than one check needs.
func (s *Store) read(ctx context.Context) error {
	rows, err := s.conn.Query(ctx, "SELECT name, setting, source FROM pg_settings")
	if err != nil {
		return err
	}
	var name string
	var set dbSetting
	if _, err := pgx.ForEachRow(rows, []any{&name, &set.value, &set.source}, func() error {
		s.settings[name] = set
		return nil
	}); err != nil {
		return err
	}
	var exists bool
	if err := s.conn.QueryRow(ctx, statements["schema_exists"]).Scan(&exists); err != nil || !exists {
		return err
	}
	// Who may not read the version may not read the rest either, and each check says so.
	if err := s.conn.QueryRow(ctx, statements["schema_version"]).Scan(&s.tables); err != nil && !denied(err) {
		return err
	} else if err != nil {
		s.tables = -1
	}
	return nil
}

// denied says that a role may not do something.
func denied(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "42501"
}

// number is a setting that is a number, 0 where the server does not have it.
func (s *Store) number(name string) int64 {
	n, _ := strconv.ParseInt(s.settings[name].value, 10, 64)
	return n
}

// alter is what sets a setting, where it is set.
func (s *Store) alter(name, value string) string {
	switch from := s.settings[name].source; from {
	case "command line", "environment variable":
		return fmt.Sprintf("take %s out of the server's %s, and restart it", name, from)
	case "database":
		return fmt.Sprintf("ALTER DATABASE %s RESET %s;", s.conn.Config().Database, name)
	case "user", "database user":
		return fmt.Sprintf("ALTER ROLE %s RESET %s; or ALTER ROLE … IN DATABASE %s", s.conn.Config().User, name, s.conn.Config().Database)
	case "client", "session":
		return fmt.Sprintf("take %s out of the DSN", name)
	}
	return fmt.Sprintf("ALTER SYSTEM SET %s = %s; SELECT pg_reload_conf();", name, value)
}

// storeChecks look at the server and at what the tables are.
var storeChecks = slices.Concat(tableChecks, ofServer)

// ofServer are those whose answer all databases of a server have in common, unless one is set otherwise.
var ofServer = slices.Concat(serverChecks, loadChecks)

// LookAtStore looks at the server, the tables and the work that waits in them, and tells timing what it has learned.
func LookAtStore(ctx context.Context, s *Store) []Result {
	place := "store " + s.Place()
	all := examine(ctx, place, s, tableChecks)
	of := examine(ctx, place, s, ofServer)
	for i := range of {
		of[i].Server = s.server()
	}
	all = append(all, of...)
	if s.tables != 0 {
		all = append(all, examine(ctx, place, s, workChecks)...)
	}
	for i := range all { // what a driver says may quote what it was given
		all[i].Found = connect.Redact(all[i].Found, s.DSN)
	}
	return all
}

// server is host:port.
func (s *Store) server() string {
	return net.JoinHostPort(s.conn.Config().Host, strconv.Itoa(int(s.conn.Config().Port)))
}

// Learn takes what the records of a store tell, where no flag has said it: the shortest retention and the slowest
// handler of any store.
func (t *Timing) Learn(ctx context.Context, s *Store) {
	if s.tables == 0 {
		return
	}
	m, err := s.records(ctx)
	if err != nil || m.timed < enough {
		return
	}
	from := fmt.Sprintf("%d records of store %s", m.timed, s.Place())
	if t.RetentionFrom != "--retention" && (t.RetentionFrom == "the default" || m.kept < t.Retention) {
		t.Retention, t.RetentionFrom = m.kept, from
	}
	if t.P99From != "--p99" && m.p99 > t.P99 {
		t.P99, t.P99From = m.p99, "an estimate, from claim to success in "+from
	}
}

// enough is how many records make an estimate.
const enough = 100

// sample is what some pages of idem_record say.
type sample struct {
	rows, expired, timed int64
	p99, kept, overdue   time.Duration
}

// samplePages is how many pages are read.
const samplePages = 500

// records reads a sample of idem_record, once.
func (s *Store) records(ctx context.Context) (*sample, error) {
	if s.sample != nil {
		return s.sample, nil
	}
	var pages int64
	if err := s.conn.QueryRow(ctx, `SELECT coalesce(sum(pg_relation_size(c.oid)), 0)::bigint / current_setting('block_size')::int
		FROM pg_class c WHERE c.oid = to_regclass('idem_record') OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('idem_record'))`).Scan(&pages); err != nil {
		return nil, err
	}
	share := 100.0
	if pages > samplePages {
		share = 100 * samplePages / float64(pages)
	}
	m := &sample{}
	var p99, kept, overdue *float64
	err := s.conn.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE expires_at < clock_timestamp() - interval '1 hour'),
		count(*) FILTER (WHERE `+firstAttempt+`),
		extract(epoch FROM percentile_disc(0.99) WITHIN GROUP (ORDER BY updated_at - created_at) FILTER (WHERE `+firstAttempt+`))::float8,
		extract(epoch FROM min(expires_at - updated_at) FILTER (WHERE state = 2))::float8,
		extract(epoch FROM clock_timestamp() - min(expires_at))::float8
		FROM idem_record TABLESAMPLE SYSTEM (`+strconv.FormatFloat(share, 'f', 6, 64)+`)`).Scan(&m.rows, &m.expired, &m.timed, &p99, &kept, &overdue)
	if err != nil {
		return nil, err
	}
	m.p99, m.kept, m.overdue = seconds(p99), seconds(kept), seconds(overdue)
	s.sample = m
	return m, nil
}

// firstAttempt are records whose times are those of one run of the handler, without waits.
const firstAttempt = "state = 2 AND attempts <= 1 AND retry_count = 0 AND hold_count = 0 AND redrive_count = 0"

func seconds(s *float64) time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(*s * float64(time.Second))
}
