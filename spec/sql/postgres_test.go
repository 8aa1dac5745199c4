package sql_test

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	sql "github.com/idem-spec/idem/spec/sql"
)

// A statement is read by people who write a store in another language: its head names it, says what it is for, and
// lists each parameter with its type, in order, with none left over.
func TestStatementsSayWhatTheirParametersAre(t *testing.T) {
	t.Parallel()
	statements := sql.PostgresStatements()
	if len(statements) < 40 {
		t.Fatalf("%d statements", len(statements))
	}
	listed := regexp.MustCompile(`(?m)^-- \$(\d+) +[a-z]+(\[\])? +\S`)
	for name, text := range statements {
		if !strings.HasPrefix(text, "-- "+name+": ") {
			t.Errorf("%s does not begin with its name", name)
		}
		head, body := "", ""
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "--") {
				head += line
			} else {
				body += line
			}
		}
		most := 0
		for _, m := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(body, -1) {
			n, _ := strconv.Atoi(m[1]) // digits
			most = max(most, n)
		}
		var numbers []string
		for _, m := range listed.FindAllStringSubmatch(head, -1) {
			numbers = append(numbers, m[1])
		}
		var want []string
		for i := range most {
			want = append(want, strconv.Itoa(i+1))
		}
		if fmt.Sprint(numbers) != fmt.Sprint(want) {
			t.Errorf("%s lists the parameters %v, and has %v", name, numbers, want)
		}
		if strings.Contains(body, ";") {
			t.Errorf("%s is more than one statement", name)
		}
		if regexp.MustCompile(`(?i)\b(now\(\)|current_timestamp)`).MatchString(body) {
			t.Errorf("%s reads the time of its transaction's begin, and not the time", name)
		}
	}
}

// Everything that is committed is embedded, and each version has both directions.
func TestEveryFileIsEmbedded(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("postgres"), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	migrations := sql.PostgresMigrations()
	if len(files) != 2*len(migrations) {
		t.Errorf("%d files of %d versions", len(files), len(migrations))
	}
	for _, m := range migrations {
		for _, text := range []string{m.Up, m.Down} {
			if !strings.HasPrefix(text, "-- ") {
				t.Errorf("version %d does not say why", m.Version)
			}
		}
	}
	files, err = fs.Glob(os.DirFS("postgres/statements"), "*.sql")
	if err != nil || len(files) != len(sql.PostgresStatements()) {
		t.Errorf("%d files of %d statements, %v", len(files), len(sql.PostgresStatements()), err)
	}
}
