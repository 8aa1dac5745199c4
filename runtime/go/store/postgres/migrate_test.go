package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
)

// bare gives a store on a database without tables.
func bare(t testing.TB, url string) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := postgres.New(pool, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s, pool
}

func TestMigrationsGoUpAndAllTheWayDown(t *testing.T) {
	t.Parallel()
	s, pool := bare(t, realtest.Postgres(t))
	relations := func() int {
		return value[int](t, pool, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")
	}
	for range 2 {
		if err := s.Validate(t.Context()); !errors.Is(err, postgres.ErrSchema) || !strings.Contains(err.Error(), "`idem migrate up`") {
			t.Errorf("Validate without tables: %v", err)
		}
		for version := range postgres.Version {
			if err := s.MigrateTo(t.Context(), version+1); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(s.Migrate(t.Context()), s.Check(t.Context()), s.Validate(t.Context())); err != nil {
			t.Errorf("tables of version %d: %v", postgres.Version, err)
		}
		for version := postgres.Version; version > 0; version-- {
			if err := s.MigrateTo(t.Context(), version-1); err != nil {
				t.Fatal(err)
			}
		}
		if n := relations(); n != 0 {
			t.Errorf("%d relations are left", n)
		}
	}
	if err := s.MigrateTo(t.Context(), postgres.Version+1); err == nil {
		t.Error("migrated to a version that nobody knows")
	}
}

func TestProgramsThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	url := realtest.Postgres(t)
	_, pool := bare(t, url)
	var all sync.WaitGroup
	for range 8 {
		s, _ := bare(t, url)
		all.Go(func() {
			if err := s.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := value[int](t, pool, "SELECT count(*) FROM idem_schema"); n != postgres.Version {
		t.Errorf("%d versions were applied, want %d", n, postgres.Version)
	}
}

// VER-004
func TestAProgramWorksOnItsTablesAndOnThoseOfTheNextVersion(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	for _, c := range []struct {
		more int
		want string
	}{
		{0, ""},
		{1, ""},
		{2, "update this program"},
	} {
		run(t, pool, "DELETE FROM idem_schema WHERE version > $1", postgres.Version)
		for more := 1; more <= c.more; more++ {
			run(t, pool, "INSERT INTO idem_schema (version, name) VALUES ($1, 'later')", postgres.Version+more)
		}
		err := s.Check(t.Context())
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, postgres.ErrSchema) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("tables of version %d: %v", postgres.Version+c.more, err)
		}
		if err := s.Migrate(t.Context()); err != nil {
			t.Errorf("Migrate with tables of version %d: %v", postgres.Version+c.more, err)
		}
	}
}

// Nothing tells which tables are there, and `idem migrate up` would find some in its way.
func TestATableOfVersionsWithoutOne(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	run(t, pool, "DELETE FROM idem_schema")
	_, version := s.TableVersion(t.Context())
	for name, err := range map[string]error{
		"Check": s.Check(t.Context()), "Validate": s.Validate(t.Context()), "Migrate": s.Migrate(t.Context()), "TableVersion": version,
	} {
		if !errors.Is(err, postgres.ErrSchema) || !strings.Contains(err.Error(), "restore its row, or drop the tables") || strings.Contains(err.Error(), "migrate up`") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A statement that finds a table missing does not know whether there is any.
func TestADroppedTableIsForValidateToName(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	run(t, pool, "DROP TABLE msg_retry")
	_, _, err := s.NextDue(t.Context())
	if !errors.Is(err, postgres.ErrSchema) || !strings.Contains(err.Error(), "`idem migrate validate`") {
		t.Error(err)
	}
}

func TestValidateNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	s, pool := open(t, postgres.Config{})
	run(t, pool, "ALTER TABLE idem_record DROP COLUMN hold_count")
	run(t, pool, "DROP INDEX msg_retry_due")
	run(t, pool, "DROP TABLE outbox")
	err := s.Validate(t.Context())
	if !errors.Is(err, postgres.ErrSchema) {
		t.Fatal(err)
	}
	for _, want := range []string{"idem_record.hold_count", "index msg_retry_due", "outbox.payload", "index outbox_key", "`idem migrate print --from 0`"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %s is not named", err, want)
		}
	}
}

// Two services may keep their tables apart in one database.
func TestTheSearchPathNamesTheSchema(t *testing.T) {
	t.Parallel()
	url := realtest.Postgres(t)
	_, pool := bare(t, url)
	for _, schema := range []string{"one", "two"} {
		run(t, pool, "CREATE SCHEMA "+schema)
		s, _ := openURL(t, withParameter(url, "search_path", schema), postgres.Config{})
		if l := proceed(t, s, "a", schema); l.Fence != 1 {
			t.Errorf("schema %s: fence %d", schema, l.Fence)
		}
		if err := s.Validate(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := value[int](t, pool, "SELECT (SELECT count(*) FROM one.idem_record) + (SELECT count(*) FROM two.idem_record)"); n != 2 {
		t.Errorf("%d records", n)
	}
}
