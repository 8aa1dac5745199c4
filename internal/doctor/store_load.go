package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// loadChecks look at what gets in the way of others: vacuum, transactions, connections.
var loadChecks = []*check[*Store]{
	{Check{
		ID: "STORE_AUTOVACUUM", Severity: Error,
		Purpose: "Checks that autovacuum is on, for the server and for each table.",
		Why:     "Each message leaves dead rows. Without vacuum the tables and their indexes grow without end, until transaction numbers run out and the server stops.",
	}, storeAutovacuum},
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
