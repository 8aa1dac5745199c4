package replay

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/internal/realtest"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	"github.com/idem-spec/idem/runtime/go/store/redis"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// stores are those that keep results, each fresh.
var stores = map[string]func(t *testing.T) store.Store{
	"memory": func(*testing.T) store.Store { return memory.New(memory.Config{}) },
	"sqlite": func(t *testing.T) store.Store {
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "idem.db"), sqlite.Config{})
		require.NoError(t, err)
		return s
	},
	"postgres": func(t *testing.T) store.Store {
		s, err := postgres.Open(t.Context(), realtest.Postgres(t), postgres.Config{})
		require.NoError(t, err)
		require.NoError(t, s.Migrate(t.Context()))
		return s
	},
	"redis": func(t *testing.T) store.Store {
		options, err := goredis.ParseURL(realtest.Redis(t))
		require.NoError(t, err)
		return redis.New(goredis.NewClient(options), redis.Config{})
	},
}

// TestCallsAtOnceAreOneOnEveryStore has many make one call: one runs, and the others wait for its result. A call
// that is not kept runs again.
func TestCallsAtOnceAreOneOnEveryStore(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			t.Cleanup(func() { assert.NoError(t, s.Close()) })
			e := Engine{Store: s, Service: "payments", Log: slog.New(slog.DiscardHandler)}
			require.NoError(t, e.Check("test"))
			call := Call{Key: "k", Principal: "ann", Method: "POST", Route: "/payments", Fingerprint: Fingerprint(1, []byte("12345678"))}

			released := e.Do(t.Context(), &call, func(context.Context) ([]byte, bool) { return []byte("503"), false })
			assert.Equal(t, Ran, released.Kind)

			var runs, answered atomic.Int64
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					for {
						a := e.Do(t.Context(), &call, func(context.Context) ([]byte, bool) {
							runs.Add(1)
							return []byte("paid"), true
						})
						switch a.Kind {
						case InProgress:
							runtime.Gosched()
							continue
						case Ran:
						case Replayed:
							assert.Equal(t, "paid", string(a.Result))
						default:
							assert.Fail(t, "answer", "%v %v", a.Kind, a.Err)
						}
						answered.Add(1)
						return
					}
				})
			}
			all.Wait()
			assert.EqualValues(t, 1, runs.Load())
			assert.EqualValues(t, 20, answered.Load())

			other := call
			other.Fingerprint = Fingerprint(1, []byte("87654321"))
			assert.Equal(t, KeyReused, e.Do(t.Context(), &other, nil).Kind)
		})
	}
}
