package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	spec "github.com/idem-spec/idem/spec/sql"
)

func newMigrate(std streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the tables of a PostgreSQL database to this version",
		Long: `Makes and checks the tables of idem in a PostgreSQL database.

The database is --dsn, a store of a context (--context, --store), or else IDEM_DSN or DATABASE_URL: a URL or
key=value pairs. What it leaves out comes from PGHOST, PGUSER, PGPASSWORD and their kin, or ~/.pgpass; there a
password is in no list of processes. A search_path in it names the schema: postgres://app@db/shop?search_path=idem.

A program of version N works on tables of version N and N+1: migrate first, then replace programs.`,
	}
	group(command)
	command.AddCommand(newMigrateUp(std), newMigratePrint(std), newMigrateValidate(std))
	return command
}

func newMigrateUp(std streams) *cobra.Command {
	var (
		place  connect.Flags
		config postgres.Config
	)
	command := &cobra.Command{
		Use:   "up",
		Short: "Make the tables, or bring them to this version",
		Long: `Makes the tables, or brings them to this version, in one transaction. Run at once from several places,
one does it and the others find it done. Tables of a later version are left as they are.

Records are one table, which is the fastest. From a thousand messages a second on, where vacuum should work on a part
at a time, --partitions 8 cuts it by a hash of the key. That counts when the tables are made.`,
		Example: `  idem migrate up
  idem migrate up --dsn 'postgres://owner@db.internal/shop?search_path=idem'`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := partitioned(config.Partitions); err != nil {
				return err
			}
			return withDatabase(cmd.Context(), place, true, config, func(ctx context.Context, s *postgres.Store) error {
				before, err := s.TableVersion(ctx)
				if err != nil {
					return err
				}
				if err := s.Migrate(ctx); err != nil {
					return err
				}
				after, err := s.TableVersion(ctx)
				switch {
				case err != nil:
					return err
				case before >= after:
					fmt.Fprintf(std.out, "the tables are of version %d already\n", after)
				case before == 0:
					fmt.Fprintf(std.out, "made the tables of version %d\n", after)
				default:
					fmt.Fprintf(std.out, "brought the tables from version %d to %d\n", before, after)
				}
				return nil
			})
		},
	}
	addPostgres(command, &place)
	addPartitions(command, &config.Partitions)
	return command
}

func newMigratePrint(std streams) *cobra.Command {
	var (
		place            connect.Flags
		from, partitions int
	)
	command := &cobra.Command{
		Use:   "print",
		Short: "Print the SQL that up would run",
		Long: `Prints the SQL that ` + "`idem migrate up`" + ` would run on this database, for whoever has to run it by hand. With
--from no database is asked.`,
		Example: `  idem migrate print
  idem migrate print --from 0 > tables.sql`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			show := func(version int) error {
				migrations, err := partitioned(partitions)
				if err != nil {
					return err
				}
				if version >= postgres.Version {
					fmt.Fprintf(std.out, "-- the tables are of version %d already\n", version)
					return nil
				}
				fmt.Fprint(std.out, "BEGIN;\n\n")
				printMigrations(std.out, migrations[version:])
				fmt.Fprint(std.out, "\nCOMMIT;\n")
				return nil
			}
			if cmd.Flags().Changed("from") {
				if from < 0 || from > postgres.Version {
					return fmt.Errorf("--from %d: versions are 0 (no tables) to %d", from, postgres.Version)
				}
				return show(from)
			}
			return withDatabase(cmd.Context(), place, false, postgres.Config{}, func(ctx context.Context, s *postgres.Store) error {
				version, err := s.TableVersion(ctx)
				if err != nil {
					return err
				}
				return show(version)
			})
		},
	}
	addPostgres(command, &place)
	addPartitions(command, &partitions)
	command.Flags().IntVar(&from, "from", 0, "the version of the tables, 0 where there are none")
	return command
}

func newMigrateValidate(std streams) *cobra.Command {
	var place connect.Flags
	command := &cobra.Command{
		Use:   "validate",
		Short: "Check that the tables are those of this version",
		Long: `Checks that the database can be reached and takes writes, that the tables are of a version that this
program works on, and that every column and index is there. The exit code is 1 where they are not.`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withDatabase(cmd.Context(), place, false, postgres.Config{}, func(ctx context.Context, s *postgres.Store) error {
				if err := s.Validate(ctx); err != nil {
					return err
				}
				version, err := s.TableVersion(ctx)
				switch {
				case err != nil:
					return err
				case version > postgres.Version:
					fmt.Fprintf(std.out, "the tables are of version %d, and have all that version %d, which this program knows, needs\n", version, postgres.Version)
				default:
					fmt.Fprintf(std.out, "the tables are of version %d, and complete\n", version)
				}
				return nil
			})
		},
	}
	addPostgres(command, &place)
	return command
}

func addPartitions(command *cobra.Command, partitions *int) {
	command.Flags().IntVar(partitions, "partitions", 0, "cut idem_record into so many partitions by a hash of the key; 0 is one table")
}

// partitioned are the migrations with idem_record in so many partitions.
func partitioned(partitions int) ([]spec.PostgresMigration, error) {
	if partitions < 0 || partitions > postgres.MaxPartitions {
		return nil, fmt.Errorf("--partitions %d: it is 0 to %d", partitions, postgres.MaxPartitions)
	}
	return spec.PostgresPartitioned(partitions), nil
}

// addPostgres is addPlace without the SQLite files, which have nothing to migrate.
func addPostgres(command *cobra.Command, place *connect.Flags) {
	addPlace(command, place)
	command.Flags().Lookup("dsn").Usage = "the database: a PostgreSQL URL or key=value pairs (default: IDEM_DSN, DATABASE_URL)"
}

// withDatabase opens a database for fn. That the tables do not fit is an answer; that there is no database to be
// asked is none.
func withDatabase(ctx context.Context, place connect.Flags, write bool, config postgres.Config, fn func(context.Context, *postgres.Store) error) error {
	target, err := connect.Resolve(place)
	if err != nil {
		return err
	}
	err = target.NeedOne()
	if errors.Is(err, connect.ErrNoStore) {
		return errors.New("no database: say --context, --dsn or IDEM_DSN, as in postgres://user@host/name")
	}
	if err != nil {
		return err
	}
	if write {
		if err := target.NeedWrite(); err != nil {
			return failf("%w", err)
		}
	}
	dsn := target.Stores[0].DSN
	if strings.HasPrefix(dsn, "sqlite:") {
		return brokenf("a SQLite file gets its tables from the store that opens it; this is for PostgreSQL")
	}
	s, err := postgres.Open(ctx, dsn, config)
	if err != nil {
		return unreached(ctx, err, dsn)
	}
	defer s.Close()
	if err := fn(ctx, s); err != nil {
		return unreached(ctx, err, dsn)
	}
	return nil
}
