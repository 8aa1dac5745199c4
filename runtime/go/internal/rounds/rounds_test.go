package rounds_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/rounds"
)

var errDown = errors.New("down")

// config is one that New takes.
func config(t *testing.T) rounds.Config {
	t.Helper()
	b := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
	t.Cleanup(func() { b.Close() })
	return rounds.Config{Name: "loop", Store: struct{}{}, Table: "rows", Publisher: b}
}

func TestAConfigurationThatIsWrongIsRefusedByItsField(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(c *rounds.Config){
		"loop: no store: give one that has the table rows": func(c *rounds.Config) { c.Store = nil },
		"loop: no publisher":    func(c *rounds.Config) { c.Publisher = nil },
		"loop: Batch is -1":     func(c *rounds.Config) { c.Batch = -1 },
		"loop: Lease is -1s":    func(c *rounds.Config) { c.Lease = -time.Second },
		"loop: Timeout is -1s":  func(c *rounds.Config) { c.Timeout = -time.Second },
		"loop: Poll is -1s":     func(c *rounds.Config) { c.Poll = -time.Second },
		"loop: MaxDelay is -1s": func(c *rounds.Config) { c.MaxDelay = -time.Second },
		"make Lease at least 8": func(c *rounds.Config) { c.Timeout, c.Lease = 2*time.Second, 7*time.Second },
		"loop: Alias: of \"a\"": func(c *rounds.Config) { c.Alias = map[string]string{"a": "a"} },
	} {
		c := config(t)
		change(&c)
		_, err := rounds.New(c)
		require.ErrorContains(t, err, want)
	}
}

// A chore that fails is not over with the next round, which does not do it.
func TestAChoreThatFailedHindersUntilItSucceeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		c := config(t)
		c.Log = slog.New(slog.NewTextHandler(&out, nil))
		l, err := rounds.New(c)
		require.NoError(t, err)
		var done []time.Duration
		begin := time.Now()
		l.Every(15*time.Second, 5*time.Second, func(context.Context) (bool, error) {
			done = append(done, time.Since(begin))
			if len(done) < 3 {
				return false, errDown
			}
			return len(done) == 3, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, l.Run(ctx, func(context.Context) (time.Duration, error) { return time.Second, nil }))
		assert.Equal(t, []time.Duration{5 * time.Second, 20 * time.Second, 35 * time.Second, 36 * time.Second, 51 * time.Second}, done)
		assert.Equal(t, 3, strings.Count(out.String(), "level=ERROR"), out.String())
		assert.Equal(t, 1, strings.Count(out.String(), "works again"), out.String())
	})
}

func TestWhatIsConfirmedIsRemovedAlsoAtTheThirdTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, failures := range []int{0, 2, 3} {
			l, err := rounds.New(config(t))
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			tries := 0
			err = l.Remove(ctx, func(ctx context.Context) error {
				if tries++; tries <= failures {
					return errDown
				}
				return ctx.Err()
			})
			if failures == 3 {
				require.ErrorIs(t, err, errDown)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, min(failures+1, 3), tries)
		}
	})
}
