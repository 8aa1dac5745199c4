package guard

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// GiveBack returns the claims of Ready deliveries whose handler never started, and the attempts with them:
// nothing follows, and whoever gets them next may run them at once. It is for a shutdown, or a partition that is
// lost. They are Opened again, and not Settled: they must not be acknowledged. After an error the leases run out by
// themselves. (DEDUP-023)
func (g *Guard) GiveBack(ctx context.Context, ds []*Delivery) error {
	s := newScratch()
	defer s.free()
	for _, d := range ds {
		if d.Status != Ready {
			continue
		}
		d.Decision = idem.Decision{}
		if d.held() {
			s.settle(d, g.inPlace(d, true))
		}
		d.Again()
	}
	if len(s.settlements) == 0 {
		return nil
	}
	if _, err := g.store.Settle(ctx, s.settlements); err != nil {
		return fmt.Errorf("give %d claims back: %w", len(s.settlements), err)
	}
	return nil
}
