package sql

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

//go:embed postgres/*.sql postgres/statements/*.sql
var postgresFiles embed.FS

// PostgresMigration is one version of the tables on PostgreSQL. A program of version N works on tables of
// version N and N+1.
type PostgresMigration struct {
	Version int
	Name    string
	// Up makes the version before it this one, Down the reverse.
	Up, Down string
}

// PostgresMigrations are in the order of their versions. The last one is what PostgresStatements are written
// for.
func PostgresMigrations() []PostgresMigration {
	ups, _ := fs.Glob(postgresFiles, "postgres/*.up.sql") // in the order of their names; the pattern is good
	migrations := make([]PostgresMigration, len(ups))
	for i, file := range ups {
		number, name, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(file, "postgres/"), ".up.sql"), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			panic(fmt.Sprintf("%s: migration %d of the files that are embedded", file, i+1))
		}
		migrations[i] = PostgresMigration{
			Version: version, Name: name,
			Up: postgresText(file), Down: postgresText(strings.TrimSuffix(file, ".up.sql") + ".down.sql"),
		}
	}
	return migrations
}

// tableOptions is how the file of version 1 ends the only table that may be partitioned.
var tableOptions = regexp.MustCompile(`(?s)(CREATE TABLE idem_record \(.*?\n)\) (WITH \([^)]*\));`)

// PostgresPartitioned are PostgresMigrations with idem_record in so many partitions, by a hash of the key. 0 is none.
func PostgresPartitioned(partitions int) []PostgresMigration {
	migrations := PostgresMigrations()
	if partitions == 0 {
		return migrations
	}
	var text strings.Builder
	text.WriteString("${1}) PARTITION BY HASH (key);")
	for i := range partitions {
		fmt.Fprintf(&text, "\nCREATE TABLE idem_record_%d PARTITION OF idem_record FOR VALUES WITH (MODULUS %d, REMAINDER %d)\n    $2;", i, partitions, i)
	}
	migrations[0].Up = tableOptions.ReplaceAllString(migrations[0].Up, text.String())
	return migrations
}

// PostgresStatements are the statements on PostgreSQL by the names of their files without ".sql". Each begins
// with what it is for, and what its parameters $1, $2 are.
func PostgresStatements() map[string]string {
	files, _ := fs.Glob(postgresFiles, "postgres/statements/*.sql")
	statements := make(map[string]string, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "postgres/statements/"), ".sql")
		statements[name] = postgresText(file)
	}
	return statements
}

func postgresText(file string) string {
	text, err := postgresFiles.ReadFile(file)
	if err != nil {
		panic(err) // the name of a file that is embedded
	}
	return string(text)
}
