package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	spec "github.com/idem-spec/idem/spec/sql"
)

// migrate brings the tables to this program's version, in one transaction, so that of two programs that
// start one does it and the other finds it done. Those of a later version are left as they are, and with
// Config.NoMigrate all are.
func (s *Store) migrate(ctx context.Context) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	version, err := schemaVersion(ctx, tx)
	if err != nil {
		return err
	}
	for _, m := range spec.SQLiteMigrations() {
		if m.Version <= version || s.config.NoMigrate {
			continue
		}
		if _, err := tx.ExecContext(ctx, m.Up); err != nil {
			return fmt.Errorf("migrate to version %d: %w", m.Version, err)
		}
		if _, err := tx.ExecContext(ctx, texts["schema_applied"], m.Version, m.Name, s.now().UnixMilli()); err != nil {
			return fmt.Errorf("migrate to version %d: %w", m.Version, err)
		}
	}
	if err := checkSchema(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// schemaVersion is 0 where there are no tables.
func schemaVersion(ctx context.Context, tx *sql.Tx) (version int, err error) {
	var exists bool
	if err := tx.QueryRowContext(ctx, texts["schema_exists"]).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, texts["schema_version"]).Scan(&version)
	return version, err
}

// checkSchema accepts this program's version of the tables and the one behind it.
func checkSchema(ctx context.Context, tx *sql.Tx) error {
	migrations := spec.SQLiteMigrations()
	ours := migrations[len(migrations)-1].Version
	version, err := schemaVersion(ctx, tx)
	if err != nil {
		return err
	}
	if version < ours {
		return fmt.Errorf("%w: they are of version %d, and it needs %d; open the file with sqlite.Open, which migrates it", ErrSchema, version, ours)
	}
	if version > ours+1 {
		return fmt.Errorf("%w: they are of version %d, and it works on %d and %d; update the program", ErrSchema, version, ours, ours+1)
	}
	var tables int
	if err := tx.QueryRowContext(ctx, texts["schema_tables"]).Scan(&tables); err != nil {
		return err
	}
	if tables < 7 {
		return fmt.Errorf("%w: of 7 tables %d are there; restore the file, or name a new one, which forgets all keys", ErrSchema, tables)
	}
	return nil
}
