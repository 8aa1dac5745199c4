package tiered_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/redis"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
	"github.com/idem-spec/idem/runtime/go/store/storetest"
	"github.com/idem-spec/idem/runtime/go/store/tiered"
)

var _ tiered.Hint = (*redis.Hints)(nil)

// patient is a configuration for tests of what is said, not of how long it takes.
var patient = tiered.Config{Timeout: time.Minute, ForgetTimeout: time.Minute}

// front is a Redis in the test's process, which has the time of clock.
func front(t testing.TB, clock func() time.Time) (*miniredis.Miniredis, *redis.Hints) {
	t.Helper()
	m := miniredis.RunT(t)
	m.SetTime(clock())
	m.ClockTTL(true)
	h := redis.New(goredis.NewClient(&goredis.Options{Addr: m.Addr(), ReadTimeout: time.Minute}), redis.Config{}).Hints()
	t.Cleanup(func() { _ = h.Close() })
	return m, h
}

func TestStoreOverMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Subject {
		m, h := front(t, clock.Now)
		s := tiered.New(h, memory.New(memory.Config{Now: clock.Now}), patient)
		var mu sync.Mutex
		var names []string
		effect := func(_ context.Context, tx *memory.Tx, name string) error {
			tx.Do(func() {
				mu.Lock()
				defer mu.Unlock()
				names = append(names, name)
			})
			return nil
		}
		effects := func(context.Context) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(names), nil
		}
		return storetest.Subject{Store: s, Memory: true, Tx: storetest.TxOf(s, effect, effects), Advance: func(d time.Duration) {
			clock.Advance(d)
			m.SetTime(clock.Now())
		}, Seeds: 2}
	})
}

func TestStoreOverSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Subject {
		m, h := front(t, clock.Now)
		path := filepath.Join(t.TempDir(), "idem.db")
		truth, err := sqlite.Open(path, sqlite.Config{Now: clock.Now, Synchronous: sqlite.Normal})
		if err != nil {
			t.Fatal(err)
		}
		s := tiered.New(h, truth, patient)
		t.Cleanup(func() { _ = s.Close() })
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if _, err := db.Exec("CREATE TABLE effect (name TEXT)"); err != nil {
			t.Fatal(err)
		}
		effect := func(ctx context.Context, tx *sql.Tx, name string) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO effect VALUES (?)", name)
			return err
		}
		effects := func(ctx context.Context) ([]string, error) {
			rows, err := db.QueryContext(ctx, "SELECT name FROM effect")
			if err != nil {
				return nil, err
			}
			defer rows.Close()
			var names []string
			for rows.Next() {
				var name string
				if err := rows.Scan(&name); err != nil {
					return nil, err
				}
				names = append(names, name)
			}
			return names, rows.Err()
		}
		return storetest.Subject{
			Store: s, Memory: true, Tx: storetest.TxOf(s, effect, effects), Seeds: 2,
			Advance: func(d time.Duration) {
				clock.Advance(d)
				m.SetTime(clock.Now())
			},
			Without: map[storetest.Capability]string{storetest.BesideTx: "a transaction of SQLite is the one writer"},
		}
	})
}

func TestStoreOnRedis(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, _ *storetest.Clock) storetest.Subject {
		options, err := goredis.ParseURL(realtest.Redis(t))
		if err != nil {
			t.Fatal(err)
		}
		h := redis.New(goredis.NewClient(options), redis.Config{}).Hints()
		s := tiered.New(h, memory.New(memory.Config{}), patient)
		t.Cleanup(func() { _ = s.Close() })
		return storetest.Subject{Store: s, Memory: true, OwnClock: true, Seeds: 1}
	})
}
