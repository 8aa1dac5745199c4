package memory_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/idem-spec/idem/runtime/go/store/memory"
	"github.com/idem-spec/idem/runtime/go/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(_ *testing.T, clock *storetest.Clock) storetest.Subject {
		s := memory.New(memory.Config{Now: clock.Now})
		var mu sync.Mutex
		var effects []string
		return storetest.Subject{Store: s, Seeds: 40, Tx: storetest.TxOf(s,
			func(_ context.Context, tx *memory.Tx, name string) error {
				tx.Do(func() {
					mu.Lock()
					defer mu.Unlock()
					effects = append(effects, name)
				})
				return nil
			},
			func(context.Context) ([]string, error) {
				mu.Lock()
				defer mu.Unlock()
				return slices.Clone(effects), nil
			},
		)}
	})
}
