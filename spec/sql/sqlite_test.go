package sql_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	sql "github.com/idem-spec/idem/spec/sql"
)

var (
	tablePattern  = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \(\n(.*?)^\)`)
	columnPattern = regexp.MustCompile(`(?m)^    ([a-z]\w*) +\S`)
)

// columnsOf reads the columns of each table, in the order of their names.
func columnsOf(up string) map[string][]string {
	tables := make(map[string][]string)
	for _, table := range tablePattern.FindAllStringSubmatch(up, -1) {
		var columns []string
		for _, column := range columnPattern.FindAllStringSubmatch(table[2], -1) {
			columns = append(columns, column[1])
		}
		slices.Sort(columns)
		tables[table[1]] = columns
	}
	return tables
}

func TestTablesHaveTheSameNamesOnBothDatabases(t *testing.T) {
	t.Parallel()
	var postgres, sqlite strings.Builder
	for _, m := range sql.PostgresMigrations() {
		postgres.WriteString(m.Up)
	}
	for _, m := range sql.SQLiteMigrations() {
		sqlite.WriteString(m.Up)
	}
	want, got := columnsOf(postgres.String()), columnsOf(sqlite.String())
	want["msg_retry"] = slices.DeleteFunc(want["msg_retry"], func(column string) bool { return column == "kind" }) // which an index there is for
	for _, table := range []string{"idem_schema", "idem_record", "msg_retry", "idem_lane", "dead_letter", "idem_operation", "idem_audit", "outbox"} {
		if len(want[table]) == 0 || !slices.Equal(want[table], got[table]) {
			t.Errorf("%s\nPostgreSQL has %v\nSQLite has     %v", table, want[table], got[table])
		}
	}
}

func TestEveryStatementOfSQLiteIsOne(t *testing.T) {
	t.Parallel()
	statements := sql.SQLiteStatements()
	if len(statements) < 40 {
		t.Fatalf("%d statements are read", len(statements))
	}
	for name, text := range statements {
		if strings.Count(text+"\n", ";\n") != 1 || !strings.HasSuffix(text, ";") {
			t.Errorf("%s is not one statement:\n%s", name, text)
		}
	}
}
