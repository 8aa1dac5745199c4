package retry

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/idem-spec/idem/runtime/go/observe"
)

// sweep lets go lanes that wait for a head that is done. (CONS-015)
func (s *Scheduler) sweep(ctx context.Context) error {
	now := s.config.Now()
	if s.config.Sweep < 0 || now.Before(s.sweepAt) {
		return nil
	}
	s.sweepAt = now.Add(s.config.Sweep)
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	moved, err := s.retries.SweepLanes(ctx, sweepLimit)
	if s.sweepErr = err; err != nil {
		s.sweepErr = fmt.Errorf("sweep lanes: %w", err)
		return s.sweepErr
	}
	if moved == sweepLimit {
		s.sweepAt = now // there are more
	}
	if moved > 0 {
		s.tell.Info(ctx, "retry scheduler: lanes let go whose head had ended without a word", slog.Int("lanes", moved))
	}
	return nil
}

// gauges counts the rows for the metrics.
func (s *Scheduler) gauges(ctx context.Context) error {
	now := s.config.Now()
	if s.config.Observer == nil || s.config.Gauges < 0 || now.Before(s.gaugesAt) {
		return nil
	}
	s.gaugesAt = now.Add(s.config.Gauges)
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	counts, err := s.retries.CountRetries(ctx)
	if s.gaugesErr = err; err != nil {
		s.gaugesErr = fmt.Errorf("count retries: %w", err)
		return s.gaugesErr
	}
	labels := observe.Labels{Store: s.config.StoreName}
	s.tell.Measure(observe.RetriesPending, labels, float64(counts.Pending))
	s.tell.Measure(observe.RetriesParked, labels, float64(counts.Parked))
	s.tell.Measure(observe.RetryOldestDue, labels, counts.OldestDue.Seconds())
	return nil
}
