package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	spec "github.com/idem-spec/idem/spec/sql"
)

// Version is that of the tables that this program was written for. It works on those of the version after, too,
// so that tables are migrated first, and programs replaced one by one.
var Version = len(spec.PostgresMigrations())

// Migrate brings the tables to Version, in one transaction. Programs that start together may all call it: one
// does it, and the others wait and find it done. Tables of a later version are left as they are.
func (c *core) Migrate(ctx context.Context) error {
	return named("migrate up", c.migrate(ctx, func(version int) int { return max(version, Version) }))
}

// MigrateTo brings the tables to a version, 0 for none: then all that they know is lost.
func (c *core) MigrateTo(ctx context.Context, version int) error {
	action := fmt.Sprintf("migrate to version %d", version)
	if version < 0 || version > Version {
		return fmt.Errorf("%s: this program knows 0 to %d", action, Version)
	}
	return named(action, c.migrate(ctx, func(at int) int {
		if at > Version { // how to get down from there this program does not know
			return at
		}
		return version
	}))
}

func (c *core) migrate(ctx context.Context, target func(version int) int) error {
	migrations := spec.PostgresPartitioned(c.config.Partitions)
	return c.with(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, texts["schema_lock"]); err != nil {
				return err
			}
			version, err := versionOf(ctx, tx)
			if err != nil {
				return err
			}
			to := target(version)
			for ; version < to; version++ {
				m := &migrations[version]
				if err := script(ctx, tx, m.Up, m.Version); err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, texts["schema_applied"], m.Version, m.Name); err != nil {
					return err
				}
			}
			for ; version > to; version-- {
				m := &migrations[version-1]
				if m.Version > 1 { // the first takes the table of versions with it
					if _, err := tx.Exec(ctx, texts["schema_reverted"], m.Version); err != nil {
						return err
					}
				}
				if err := script(ctx, tx, m.Down, m.Version); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// script runs a file of several statements.
func script(ctx context.Context, tx pgx.Tx, text string, version int) error {
	if _, err := tx.Conn().PgConn().Exec(ctx, text).ReadAll(); err != nil {
		return fmt.Errorf("version %d: %w", version, err)
	}
	return nil
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// versionOf is the version of the tables, 0 where there are none. A table of versions that has none says nothing of
// the others.
func versionOf(ctx context.Context, q querier) (version int, err error) {
	var exists bool
	if err := q.QueryRow(ctx, texts["schema_exists"]).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	if err := q.QueryRow(ctx, texts["schema_version"]).Scan(&version); err != nil {
		return 0, err
	}
	if version <= 0 {
		return 0, fmt.Errorf("%w: idem_schema is there and has no version: restore its row, or drop the tables", ErrSchema)
	}
	return version, nil
}

// Check says whether the server can be reached and takes writes, and whether the tables are of a version that
// this program works on. Its errors wrap ErrSchema, ErrDenied or ErrReadOnly, and say what to do.
func (c *core) Check(ctx context.Context) error {
	return named("check the postgres store", c.with(ctx, func(conn *pgx.Conn) error { return checkVersion(ctx, conn) }))
}

func checkVersion(ctx context.Context, conn *pgx.Conn) error {
	if err := checkMode(conn.Config()); err != nil {
		return err
	}
	version, err := versionOf(ctx, conn)
	switch {
	case err != nil:
		return err
	case version == 0:
		return fmt.Errorf("%w: there are none in the search_path; run `idem migrate up`, or name their schema in the DSN, search_path=idem", ErrSchema)
	case version < Version:
		return fmt.Errorf("%w: they are of version %d, and it needs %d; run `idem migrate up`", ErrSchema, version, Version)
	case version > Version+1:
		return fmt.Errorf("%w: they are of version %d, and it works on %d and %d; update this program", ErrSchema, version, Version, Version+1)
	}
	var standby bool
	var readOnly string
	if err := conn.QueryRow(ctx, texts["schema_writable"]).Scan(&standby, &readOnly); err != nil {
		return err
	}
	if standby || readOnly == "on" {
		return ErrReadOnly
	}
	return nil
}

// Validate is Check, and looks whether each column and each index is there that the statements need.
func (c *core) Validate(ctx context.Context) error {
	return named("validate the tables", c.with(ctx, func(conn *pgx.Conn) error {
		if err := checkVersion(ctx, conn); err != nil {
			return err
		}
		rows, err := conn.Query(ctx, texts["schema_missing"])
		if err != nil {
			return err
		}
		missing, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return fmt.Errorf("%w: missing or not valid: %s; make them as `idem migrate print --from 0` shows", ErrSchema, strings.Join(missing, ", "))
		}
		return nil
	}))
}

// TableVersion is the version of the tables, 0 where there are none in the search_path.
func (c *core) TableVersion(ctx context.Context) (version int, err error) {
	err = c.with(ctx, func(conn *pgx.Conn) error {
		version, err = versionOf(ctx, conn)
		return err
	})
	return version, named("read the version of the tables", err)
}
