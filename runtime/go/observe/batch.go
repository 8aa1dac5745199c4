package observe

import (
	"context"
	"time"
)

// Batch is one step that a runtime made for several deliveries at once.
type Batch struct {
	Scope string
	// Step is "fetch", "claim", "settle", "complete", "commit", "publish", "relay" or "schedule".
	Step string
	// Topic is empty where the batch has several.
	Topic string
	Size  int
	Took  time.Duration
	Err   error
}

// BatchObserver is an Observer that is told of batches too. What holds for Delivery holds for Batch.
type BatchObserver interface {
	Observer
	Batch(ctx context.Context, b *Batch)
}

// TellBatch tells an observer of a batch, where it listens to them.
func TellBatch(ctx context.Context, o Observer, b *Batch) {
	if o, ok := o.(BatchObserver); ok {
		o.Batch(ctx, b)
	}
}
