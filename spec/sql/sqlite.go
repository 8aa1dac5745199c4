package sql

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed sqlite
var sqliteFiles embed.FS

// SQLiteMigration is one version of the tables on SQLite. A program of version N works on tables of version N
// and N+1.
type SQLiteMigration struct {
	Version int
	Name    string
	// Up makes the version before it this one, Down the reverse.
	Up, Down string
}

// SQLiteMigrations are in the order of their versions. The last one is what SQLiteStatements are written for.
func SQLiteMigrations() []SQLiteMigration {
	migrations := []SQLiteMigration{{Version: 1, Name: "tables"}}
	for i := range migrations {
		m := &migrations[i]
		file := fmt.Sprintf("%03d_%s", m.Version, m.Name)
		m.Up, m.Down = sqliteText(file+".up.sql"), sqliteText(file+".down.sql")
	}
	return migrations
}

// SQLiteStatements are the statements on SQLite by the name that stands above each. Parameters are ?1, ?2.
func SQLiteStatements() map[string]string {
	statements := make(map[string]string)
	for _, file := range []string{"schema.sql", "record.sql", "retry.sql", "dead_letter.sql", "outbox.sql", "operation.sql", "audit.sql"} {
		for _, block := range strings.Split(sqliteText("statements/"+file), "-- name: ")[1:] {
			name, text, _ := strings.Cut(block, "\n")
			statements[name] = strings.TrimSpace(text)
		}
	}
	return statements
}

func sqliteText(file string) string {
	text, err := sqliteFiles.ReadFile("sqlite/" + file)
	if err != nil {
		panic(err) // the name of a file that is embedded
	}
	return string(text)
}
