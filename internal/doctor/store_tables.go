package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// tableChecks look at what the tables are.
var tableChecks = []*check[*Store]{
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
		ID: "STORE_FILLFACTOR", Severity: Warning,
		Purpose: "Checks that half of each page of idem_record is left free.",
		Why:     "A record is written twice, at its claim and at its completion. Where the second does not fit on its page, the index is written too, and vacuum has to walk it.",
	}, storeFillfactor},
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
	WHERE c.relkind IN ('r', 'p') AND (c.oid IN (to_regclass('idem_record'), to_regclass('msg_retry'), to_regclass('idem_lane'), to_regclass('dead_letter'), to_regclass('outbox'), to_regclass('idem_operation'), to_regclass('idem_audit'))
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
