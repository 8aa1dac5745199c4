package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/idem-spec/idem/runtime/go/store/postgres"
	spec "github.com/idem-spec/idem/spec/sql"
)

func newMigrate(std streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the tables of a PostgreSQL database to this version",
		Long: `Makes and checks the tables of idem in a PostgreSQL database.

The database is --dsn, or else DATABASE_URL: a URL or key=value pairs. What it leaves out comes from
PGHOST, PGUSER, PGPASSWORD and their kin, or ~/.pgpass; there a password is in no list of processes.
A search_path in it names the schema: postgres://app@db/shop?search_path=idem.

A program of version N works on tables of version N and N+1: migrate first, then replace programs.`,
	}
	group(command)
	command.AddCommand(newMigrateUp(std), newMigratePrint(std), newMigrateValidate(std))
	return command
}

func newMigrateUp(std streams) *cobra.Command {
	var dsn string
	command := &cobra.Command{
		Use:   "up",
		Short: "Make the tables, or bring them to this version",
		Long: `Makes the tables, or brings them to this version, in one transaction. Run at once from several places,
one does it and the others find it done. Tables of a later version are left as they are.`,
		Example: `  idem migrate up
  idem migrate up --dsn 'postgres://owner@db.internal/shop?search_path=idem'`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withDatabase(cmd.Context(), dsn, func(ctx context.Context, s *postgres.Store) error {
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
	dsnFlag(command, &dsn)
	return command
}

func newMigratePrint(std streams) *cobra.Command {
	var (
		dsn  string
		from int
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
				if version >= postgres.Version {
					fmt.Fprintf(std.out, "-- the tables are of version %d already\n", version)
					return nil
				}
				fmt.Fprint(std.out, "BEGIN;\n\n")
				printMigrations(std.out, spec.PostgresMigrations()[version:])
				fmt.Fprint(std.out, "\nCOMMIT;\n")
				return nil
			}
			if cmd.Flags().Changed("from") {
				if from < 0 || from > postgres.Version {
					return fmt.Errorf("--from %d: versions are 0 (no tables) to %d", from, postgres.Version)
				}
				return show(from)
			}
			return withDatabase(cmd.Context(), dsn, func(ctx context.Context, s *postgres.Store) error {
				version, err := s.TableVersion(ctx)
				if err != nil {
					return err
				}
				return show(version)
			})
		},
	}
	dsnFlag(command, &dsn)
	command.Flags().IntVar(&from, "from", 0, "the version of the tables, 0 where there are none")
	return command
}

func newMigrateValidate(std streams) *cobra.Command {
	var dsn string
	command := &cobra.Command{
		Use:   "validate",
		Short: "Check that the tables are those of this version",
		Long: `Checks that the database can be reached and takes writes, that the tables are of a version that this
program works on, and that every column and index is there. The exit code is 1 where they are not.`,
		Args: upTo(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withDatabase(cmd.Context(), dsn, func(ctx context.Context, s *postgres.Store) error {
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
	dsnFlag(command, &dsn)
	return command
}

// dsnFlag has no default of its own: help would show it, and it may have a password.
func dsnFlag(command *cobra.Command, dsn *string) {
	command.Flags().StringVar(dsn, "dsn", "", "the database, a URL or key=value pairs (default: DATABASE_URL)")
}

// withDatabase opens a database for fn. That the tables do not fit is an answer; that there is no database to be
// asked is none.
func withDatabase(ctx context.Context, dsn string, fn func(context.Context, *postgres.Store) error) error {
	if dsn == "" {
		if dsn = os.Getenv("DATABASE_URL"); dsn == "" {
			return errors.New("no --dsn, and DATABASE_URL is not set: name a database, as in postgres://user@host/name")
		}
	}
	s, err := postgres.Open(ctx, dsn, postgres.Config{})
	if err != nil {
		return brokenf("%w", err)
	}
	defer s.Close()
	switch err := fn(ctx, s); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case errors.Is(err, postgres.ErrSchema), errors.Is(err, postgres.ErrReadOnly):
		return failf("%w", err)
	default:
		return brokenf("%w", err)
	}
}
