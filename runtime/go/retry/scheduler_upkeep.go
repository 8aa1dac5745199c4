package retry

import (
	"context"
	"log/slog"

	"github.com/idem-spec/idem/runtime/go/observe"
)

// sweep lets go lanes that wait for a head that is done. (CONS-015)
func (s *Scheduler) sweep(ctx context.Context) (more bool, err error) {
	moved, err := s.retries.SweepLanes(ctx, sweepLimit)
	if err != nil {
		return false, err
	}
	if moved > 0 {
		s.loop.Tell.Info(ctx, "retry scheduler: lanes let go whose head had ended without a word", slog.Int("lanes", moved))
	}
	return moved == sweepLimit, nil
}

// gauges counts the rows for the metrics.
func (s *Scheduler) gauges(ctx context.Context) error {
	counts, err := s.retries.CountRetries(ctx)
	if err != nil {
		return err
	}
	labels := observe.Labels{Store: s.loop.StoreName}
	s.loop.Tell.Measure(observe.RetriesPending, labels, float64(counts.Pending))
	s.loop.Tell.Measure(observe.RetriesParked, labels, float64(counts.Parked))
	s.loop.Tell.Measure(observe.RetryOldestDue, labels, counts.OldestDue.Seconds())
	return nil
}
