package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	spec "github.com/idem-spec/idem/spec/sql"
)

// dialects are the databases that there is SQL for.
var dialects = []string{"postgres", "sqlite"}

func newSQL(std streams) *cobra.Command {
	var (
		dialect    string
		statements bool
		partitions int
	)
	command := &cobra.Command{
		Use:   "sql",
		Short: "Print the tables, or the statements that run on them",
		Long: `Prints the SQL that makes the tables of idem: records, retries, lanes, dead letters and the outbox.
With --statements it prints what stores run on them, each with what it is for and what its
parameters are, for a store in another language or a review by whoever runs the database.

It asks no database. ` + "`idem migrate`" + ` brings the tables of one to this version; a SQLite file gets its
tables from the store that opens it.`,
		Example: `  idem sql | psql "$DATABASE_URL" --single-transaction --set ON_ERROR_STOP=1
  idem sql --dialect sqlite
  idem sql --statements`,
		Args: upTo(),
		RunE: func(*cobra.Command, []string) error {
			switch {
			case !slices.Contains(dialects, dialect):
				return fmt.Errorf("--dialect %s: it is %s", dialect, strings.Join(dialects, " or "))
			case statements && dialect == "sqlite":
				printStatements(std.out, spec.SQLiteStatements())
			case statements:
				printStatements(std.out, spec.PostgresStatements())
			case dialect == "sqlite":
				for _, m := range spec.SQLiteMigrations() {
					fmt.Fprintf(std.out, "-- version %d: %s\n\n%s", m.Version, m.Name, m.Up)
				}
			default:
				migrations, err := partitioned(partitions)
				if err != nil {
					return err
				}
				printMigrations(std.out, migrations)
			}
			return nil
		},
	}
	command.Flags().StringVar(&dialect, "dialect", "postgres", "postgres or sqlite")
	command.Flags().BoolVar(&statements, "statements", false, "print the statements instead of the tables")
	addPartitions(command, &partitions)
	offer(command, "dialect", dialects...)
	return command
}

// printMigrations prints migrations and the rows that record them, so that whoever runs the SQL by hand leaves
// what `idem migrate up` would have left.
func printMigrations(w io.Writer, migrations []spec.PostgresMigration) {
	for _, m := range migrations {
		fmt.Fprintf(w, "-- version %d: %s\n\n%s\nINSERT INTO idem_schema (version, name) VALUES (%d, '%s');\n", m.Version, m.Name, m.Up, m.Version, m.Name)
	}
}

// printStatements prints statements in the order of their names.
func printStatements(w io.Writer, statements map[string]string) {
	for i, name := range slices.Sorted(maps.Keys(statements)) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		text := strings.TrimSpace(statements[name])
		if !strings.HasPrefix(text, "-- "+name+":") {
			fmt.Fprintf(w, "-- %s\n", name)
		}
		fmt.Fprintf(w, "%s;\n", strings.TrimSuffix(text, ";"))
	}
}
