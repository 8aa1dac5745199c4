package lag

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// unknown says why there is no trend of a partition that is behind; empty where there is one of each.
func (l *Looker) unknown(groups []Group) string {
	for i := range groups {
		for j := range groups[i].Partitions {
			p := &groups[i].Partitions[j]
			if p.Lag > 0 && trendOf(l.track(groups[i].Name, p), l.Window).Slope == "" {
				return fmt.Sprintf("of %s/%d group %s has no commits that tell of the time before now", p.Topic, p.Partition, groups[i].Name)
			}
		}
	}
	return ""
}

// measure looks again for a while.
func (l *Looker) measure(ctx context.Context, groups []Group) (time.Time, error) {
	end := time.Now().Add(l.Measure)
	for {
		select {
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		case <-time.After(min(max(l.Measure/10, 100*time.Millisecond), time.Second)):
		}
		work, inner := errgroup.WithContext(ctx)
		work.SetLimit(atOnce)
		for i := range groups {
			work.Go(func() error {
				committed, err := l.Broker.Committed(inner, groups[i].Name)
				for j := range groups[i].Partitions {
					p := &groups[i].Partitions[j]
					if offset, ok := committed[p.TopicPartition]; ok {
						p.Committed = offset
					}
				}
				return err
			})
		}
		if err := work.Wait(); err != nil {
			return time.Time{}, err
		}
		now, err := l.see(ctx, groups)
		if err != nil || now.After(end) {
			return now, err
		}
	}
}
