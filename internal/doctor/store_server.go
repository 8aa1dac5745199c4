package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// storeChecks look at the server and at what the tables are.
var storeChecks = []*check[*Store]{
	{Check{
		ID: "STORE_TABLES", Severity: Error,
		Purpose: "Checks that the tables are there, and of a version that this program works on.",
		Why:     "The service does not start, or ends at its first message.",
	}, storeTables},
	{Check{
		ID: "STORE_COLUMNS", Severity: Error,
		Purpose: "Checks that each column is there that the statements name.",
		Why:     "A statement that names one that is missing fails whenever it is run, which may be at the first retry only.",
	}, storeColumns},
	{Check{
		ID: "STORE_INDEXES", Severity: Error,
		Purpose: "Checks that each index is there, and valid.",
		Why:     "Without its index a statement reads the whole table for each message. Without a unique one, the same message is two. An index that was interrupted while it was built is kept up, and not used.",
	}, storeIndexes},
	{Check{
		ID: "STORE_VERSION", Severity: Error,
		Purpose: "Checks that the server is PostgreSQL 14 or later.",
		Why:     "The statements are tested on nothing older.",
	}, storeVersion},
	{Check{
		ID: "STORE_WRITABLE", Severity: Error,
		Purpose: "Checks that the server is no standby, and takes writes.",
		Why:     "Nothing can be claimed on a standby.",
	}, storeWritable},
	{Check{
		ID: "STORE_ISOLATION", Severity: Warning, Spec: []string{"DEDUP-030"},
		Purpose: "Checks that default_transaction_isolation is read committed.",
		Why:     "With repeatable read the second of two claims of a key fails with SQLSTATE 40001 in a transaction of the handler's own, and is tried again as an error.",
	}, storeIsolation},
	{Check{
		ID: "STORE_FSYNC", Severity: Error,
		Purpose: "Checks that fsync and full_page_writes are on.",
		Why:     "When the machine loses power, the database is not what it was, and may not start.",
	}, storeFsync},
	{Check{
		ID: "STORE_SYNCHRONOUS_COMMIT", Severity: Error,
		Purpose: "Checks that a commit is on disk when it is confirmed.",
		Why:     "With synchronous_commit off a crash takes back what was confirmed in the last moment: a SUCCESS whose offset is committed, or an outbox row that the caller believes in.",
	}, storeSynchronousCommit},
	{Check{
		ID: "STORE_STANDBY", Severity: Error,
		Purpose: "Says whether a synchronous standby has what was committed, and checks that one that is waited for is there.",
		Why:     "A failover to a standby that is behind takes back the last commits, effects and records together. One that is waited for and away stops all commits.",
	}, storeStandby},
	{Check{
		ID: "STORE_AUTOVACUUM", Severity: Error,
		Purpose: "Checks that autovacuum is on, for the server and for each table.",
		Why:     "Each message leaves dead rows. Without vacuum the tables and their indexes grow without end, until transaction numbers run out and the server stops.",
	}, storeAutovacuum},
	{Check{
		ID: "STORE_FILLFACTOR", Severity: Warning,
		Purpose: "Checks that half of each page of idem_record is left free.",
		Why:     "A record is written twice, at its claim and at its completion. Where the second does not fit on its page, the index is written too, and vacuum has to walk it.",
	}, storeFillfactor},
	{Check{
		ID: "STORE_LONG_TRANSACTIONS", Severity: Warning,
		Purpose: "Checks that no transaction, prepared transaction or abandoned slot holds back vacuum.",
		Why:     "Vacuum removes nothing that the oldest transaction might still see. Claims get slower by the hour, as they step over what is dead.",
	}, storeLongTransactions},
	{Check{
		ID: "STORE_CONNECTIONS", Severity: Warning,
		Purpose: "Checks that a fifth of the connections is free, of the server, the role and the database.",
		Why:     "A restart of the service opens its connections before the old ones are gone. Whoever gets none, claims nothing.",
	}, storeConnections},
	{Check{
		ID: "STORE_POOLER", Severity: Error,
		Purpose: "Checks that prepared statements survive between transactions, which a pooler may not let them.",
		Why:     "Drivers prepare statements once for each connection. A pooler that lends a connection for one transaction, and does not know of prepared statements, gives the next one to another server process: “prepared statement does not exist”.",
	}, storePooler},
	{Check{
		ID: "STORE_CLOCK", Severity: Warning, Spec: []string{"DEDUP-028"},
		Purpose: "Checks that the clocks of this machine and of the server agree.",
		Why:     "Leases and retries run on the server's clock alone, but how old a message is, is by the producers' and consumers': what is produced by a clock that is behind is TOO_OLD sooner.",
	}, storeClock},
}

func storeTables(_ context.Context, s *Store, r *report) error {
	switch {
	case s.tables < 0:
		return &unseen{"this role may not read idem_schema", "GRANT SELECT ON idem_schema TO the role"}
	case s.tables == 0:
		r.find("idem migrate up, on this database; or name the schema in the DSN, ?search_path=idem", "there are none in the search_path")
	case s.tables < postgres.Version:
		r.find("idem migrate up, on this database", "they are of version %d, and this program needs %d", s.tables, postgres.Version)
	case s.tables > postgres.Version+1:
		r.find("update this program", "they are of version %d, and this program works on %d and %d", s.tables, postgres.Version, postgres.Version+1)
	default:
		r.ok("version %d", s.tables)
	}
	return nil
}

// missing are columns, as table.column, and indexes that are not there or not valid.
func (s *Store) missing(ctx context.Context) (columns, indexes []string, err error) {
	rows, err := s.conn.Query(ctx, statements["schema_missing"])
	if err != nil {
		return nil, nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range all {
		if index, ok := strings.CutPrefix(name, "index "); ok {
			indexes = append(indexes, index)
		} else {
			columns = append(columns, name)
		}
	}
	return columns, indexes, err
}

func storeColumns(ctx context.Context, s *Store, r *report) error {
	if s.tables == 0 {
		return r.nothing()
	}
	columns, _, err := s.missing(ctx)
	if len(columns) > 0 {
		r.find("make them as `idem migrate print --from 0` shows", "missing: %s", some(columns))
	}
	return err
}

func storeIndexes(ctx context.Context, s *Store, r *report) error {
	if s.tables == 0 {
		return r.nothing()
	}
	_, missing, err := s.missing(ctx)
	if err != nil {
		return err
	}
	rows, err := s.conn.Query(ctx, `SELECT x.indexrelid::regclass::text, c.relname FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
		WHERE NOT (x.indisvalid AND x.indisready) AND x.indrelid IN (SELECT oid FROM (`+ownTables+`) AS own) ORDER BY 1`)
	if err != nil {
		return err
	}
	var index, name string
	_, err = pgx.ForEachRow(rows, []any{&index, &name}, func() error {
		r.find("REINDEX INDEX CONCURRENTLY "+index+";", "index %s is not valid", index)
		missing = without(missing, name)
		return nil
	})
	if len(missing) > 0 {
		r.find("make them as `idem migrate print --from 0` shows, with CREATE INDEX CONCURRENTLY while the service runs", "missing: %s", some(missing))
	}
	return err
}

// ownTables are the tables of idem, the parts of those that are cut too.
const ownTables = `SELECT c.oid, c.oid::regclass::text AS name, coalesce(c.reloptions, '{}') AS options, c.relkind FROM pg_class c
	WHERE c.relkind IN ('r', 'p') AND (c.oid IN (to_regclass('idem_record'), to_regclass('msg_retry'), to_regclass('idem_lane'), to_regclass('dead_letter'), to_regclass('outbox'))
		OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('idem_record')))`

func without(all []string, one string) (rest []string) {
	for _, s := range all {
		if s != one {
			rest = append(rest, s)
		}
	}
	return rest
}

// some names a few.
func some(names []string) string {
	const few = 6
	if len(names) > few {
		return strings.Join(names[:few], ", ") + fmt.Sprintf(" and %d more", len(names)-few)
	}
	return strings.Join(names, ", ")
}

func storeVersion(_ context.Context, s *Store, r *report) error {
	if s.number("server_version_num") < 140000 {
		r.find("upgrade the server", "it is PostgreSQL %s", s.settings["server_version"].value)
	} else {
		r.ok("PostgreSQL %s", s.settings["server_version"].value)
	}
	return nil
}

func storeWritable(ctx context.Context, s *Store, r *report) error {
	var standby bool
	if err := s.conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby); err != nil {
		return err
	}
	const mend = "connect to the primary: target_session_attrs=read-write in the DSN finds it among several hosts"
	if standby {
		r.find(mend, "it is a standby")
	}
	// This very connection asked for it, where the source is the client.
	if set := s.settings["default_transaction_read_only"]; set.value == "on" && set.source != "client" {
		r.find(s.alter("default_transaction_read_only", "off"), "default_transaction_read_only is on, set by the %s", set.source)
	}
	return nil
}

func storeIsolation(_ context.Context, s *Store, r *report) error {
	if set := s.settings["default_transaction_isolation"]; set.value != "read committed" {
		r.find(s.alter("default_transaction_isolation", "'read committed'"), "it is %q, set by the %s", set.value, set.source)
	}
	return nil
}

func storeFsync(_ context.Context, s *Store, r *report) error {
	for _, name := range []string{"fsync", "full_page_writes"} {
		if s.settings[name].value != "on" {
			r.find(s.alter(name, "on"), "%s is %s", name, s.settings[name].value)
		}
	}
	return nil
}

func storeSynchronousCommit(_ context.Context, s *Store, r *report) error {
	if set := s.settings["synchronous_commit"]; set.value == "off" {
		r.find(s.alter("synchronous_commit", "on"), "it is off, set by the %s", set.source)
	} else {
		r.ok("%s", set.value)
	}
	return nil
}

func storeStandby(ctx context.Context, s *Store, r *report) error {
	rows, err := s.conn.Query(ctx, "SELECT coalesce(application_name, ''), coalesce(state, ''), coalesce(sync_state, '') FROM pg_stat_replication")
	if err != nil {
		return err
	}
	var name, state, sync string
	var in, others []string
	hidden := false
	if _, err := pgx.ForEachRow(rows, []any{&name, &state, &sync}, func() error {
		switch {
		case sync == "":
			hidden = true
		case sync == "sync" || sync == "quorum":
			in = append(in, name)
		default:
			others = append(others, name)
		}
		return nil
	}); err != nil {
		return err
	}
	wanted := s.settings["synchronous_standby_names"].value
	switch commit := s.settings["synchronous_commit"].value; {
	case hidden:
		return &unseen{"this role may not see what standbys there are", "GRANT pg_monitor TO the role;"}
	case wanted == "":
		r.note("no standby is waited for (synchronous_standby_names is empty, %d follow): a failover may take back the last commits, and their messages, if committed, are not read again", len(others))
	case commit == "local" || commit == "off":
		r.note("synchronous_standby_names is %q, and synchronous_commit %s does not wait for it", wanted, commit)
	case len(in) == 0:
		r.find("start the standby, or "+s.alter("synchronous_standby_names", "''"), "commits wait for %q, and none of it is there", wanted)
	default:
		r.note("commits wait for %s", strings.Join(in, ", "))
	}
	return nil
}

func storeAutovacuum(ctx context.Context, s *Store, r *report) error {
	for _, name := range []string{"autovacuum", "track_counts"} {
		if s.settings[name].value != "on" {
			r.find(s.alter(name, "on"), "%s is %s", name, s.settings[name].value)
		}
	}
	rows, err := s.conn.Query(ctx, `SELECT name FROM (`+ownTables+`) AS own WHERE options && '{autovacuum_enabled=false,autovacuum_enabled=off,autovacuum_enabled=0}'::text[] ORDER BY 1`)
	if err != nil {
		return err
	}
	var name string
	_, err = pgx.ForEachRow(rows, []any{&name}, func() error {
		r.find("ALTER TABLE "+name+" RESET (autovacuum_enabled);", "it is off for %s", name)
		return nil
	})
	return err
}

func storeFillfactor(ctx context.Context, s *Store, r *report) error {
	if s.tables == 0 {
		return r.nothing()
	}
	rows, err := s.conn.Query(ctx, `SELECT name, coalesce((SELECT substring(o FROM 'fillfactor=(\d+)')::int FROM unnest(options) o WHERE o LIKE 'fillfactor=%'), 100)
		FROM (`+ownTables+`) AS own WHERE relkind = 'r' AND (oid = to_regclass('idem_record') OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass('idem_record'))) ORDER BY 1`)
	if err != nil {
		return err
	}
	var name string
	var factor int
	_, err = pgx.ForEachRow(rows, []any{&name, &factor}, func() error {
		if factor > 60 {
			r.find("ALTER TABLE "+name+" SET (fillfactor = 50);", "that of %s is %d", name, factor)
		}
		return nil
	})
	return err
}

// How old a transaction may be.
const (
	longTransaction = 5 * time.Minute
	tooLong         = time.Hour
)

func storeLongTransactions(ctx context.Context, s *Store, r *report) error {
	rows, err := s.conn.Query(ctx, `SELECT 'transaction of ' || coalesce(nullif(application_name, ''), usename, 'process ' || pid) || ', ' || state, 'SELECT pg_terminate_backend(' || pid || ');',
			extract(epoch FROM clock_timestamp() - xact_start)::float8
		FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND state <> '' AND pid <> pg_backend_pid()
		UNION ALL
		SELECT 'prepared transaction ' || gid, 'ROLLBACK PREPARED ' || quote_literal(gid) || '; or COMMIT PREPARED, as its owner knows', extract(epoch FROM clock_timestamp() - prepared)::float8
		FROM pg_prepared_xacts WHERE database = current_database()
		ORDER BY 3 DESC LIMIT 5`)
	if err != nil {
		return err
	}
	var what, mend string
	var age float64
	if _, err := pgx.ForEachRow(rows, []any{&what, &mend, &age}, func() error {
		switch d := seconds(&age); {
		case d >= tooLong:
			r.as(Error, mend, "%s, for %s", what, span(d))
		case d >= longTransaction:
			r.find(mend, "%s, for %s", what, span(d))
		}
		return nil
	}); err != nil {
		return err
	}
	rows, err = s.conn.Query(ctx, "SELECT slot_name::text, coalesce(age(xmin), age(catalog_xmin), 0) FROM pg_replication_slots WHERE NOT active ORDER BY 1")
	if err != nil {
		return err
	}
	var transactions int
	if _, err := pgx.ForEachRow(rows, []any{&what, &transactions}, func() error {
		r.find(fmt.Sprintf("start its reader, or SELECT pg_drop_replication_slot('%s');", what), "slot %s has no reader: it keeps the log, and %d transactions, since it had", what, transactions)
		return nil
	}); err != nil {
		return err
	}
	var all bool
	if err := s.conn.QueryRow(ctx, "SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')").Scan(&all); err != nil {
		return err
	}
	if !all {
		return &unseen{"this role may not see the transactions of others", "GRANT pg_monitor TO the role;"}
	}
	return nil
}

func storeConnections(ctx context.Context, s *Store, r *report) error {
	most := s.number("max_connections") - s.number("superuser_reserved_connections") - s.number("reserved_connections")
	rows, err := s.conn.Query(ctx, `SELECT 'the server', sum(numbackends)::bigint, $1::bigint, 'ALTER SYSTEM SET max_connections, and restart it' FROM pg_stat_database
		UNION ALL SELECT 'the database', (SELECT numbackends FROM pg_stat_database WHERE datname = current_database()), datconnlimit, 'ALTER DATABASE ' || quote_ident(datname) || ' CONNECTION LIMIT' FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0
		UNION ALL SELECT 'the role', (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user), rolconnlimit, 'ALTER ROLE ' || quote_ident(rolname) || ' CONNECTION LIMIT' FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0`, most)
	if err != nil {
		return err
	}
	var of, mend string
	var used, limit int64
	_, err = pgx.ForEachRow(rows, []any{&of, &used, &limit, &mend}, func() error {
		switch {
		case used*20 >= limit*19:
			r.as(Error, "have fewer or smaller pools, or a pooler; or "+mend, "%d of %d connections of %s are taken", used, limit, of)
		case used*5 >= limit*4:
			r.find("have fewer or smaller pools, or a pooler; or "+mend, "%d of %d connections of %s are taken", used, limit, of)
		default:
			r.ok("%d of %d of %s", used, limit, of)
		}
		return nil
	})
	return err
}

func storeClock(ctx context.Context, s *Store, r *report) error {
	var there time.Time
	before := time.Now()
	if err := s.conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return err
	}
	return compareClocks(r, before, there, time.Now())
}

// How far clocks may be apart, beside how long the answer took.
const (
	apart    = time.Second
	farApart = time.Minute
)

// compareClocks compares this machine's clock, before and after another one was read, with that one.
func compareClocks(r *report, before, there, after time.Time) error {
	between := before.Add(after.Sub(before) / 2)
	difference := there.Sub(between)
	word := "ahead of"
	if difference < 0 {
		difference, word = -difference, "behind"
	}
	mend := "run chrony or ntpd on both, and look at `chronyc tracking`"
	switch beyond := difference - after.Sub(before)/2; {
	case beyond >= farApart:
		r.as(Error, mend, "the server's is %s %s this machine's", span(difference), word)
	case beyond >= apart:
		r.find(mend, "the server's is %s %s this machine's", span(difference), word)
	default:
		r.ok("%s apart", span(difference))
	}
	return nil
}
