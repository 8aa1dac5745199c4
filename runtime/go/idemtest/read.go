package idemtest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Messages is all that was ever published to a topic.
func (w *World) Messages(topic string) []broker.Message { return w.broker.Messages(topic) }

// DeadLetters is the dead letters of the store that nobody has redriven. Those of a topic are its Messages.
func (w *World) DeadLetters() []store.DeadLetter {
	w.t.Helper()
	letters, err := w.store.store.ListDeadLetters(w.t.Context(), store.DeadLetterFilter{}, 0, 10000)
	if err != nil {
		w.t.Fatalf("idemtest: %v", err)
	}
	return letters
}

// Record is the dedup record of a key, nil where there is none.
func (w *World) Record(key string) *store.Record {
	w.t.Helper()
	records, err := w.store.store.Records(w.t.Context(), w.config.Consumer.Scope, []string{key})
	if err != nil {
		w.t.Fatalf("idemtest: %v", err)
	}
	return records[0]
}

// Deliveries is all deliveries that came to an end, in their order.
func (w *World) Deliveries() []observe.Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

// Log is what the processes have logged, one line each.
func (w *World) Log() string { return w.log.String() }

// letters are the reasons of the dead letters, in the store and in topics, by their keys, or by their places where
// they have none.
func (w *World) letters() map[string]string {
	w.t.Helper()
	reasons := make(map[string]string)
	for _, l := range w.DeadLetters() {
		reasons[cmp.Or(l.Key, fmt.Sprintf("%s/%d/%d", l.SourceTopic, l.SourcePartition, l.SourceOffset))] = l.Reason
	}
	for _, origin := range w.topics {
		for _, m := range w.Messages(broker.DeadLetterTopic(origin, w.config.Consumer.Scope)) {
			key, reason := fmt.Sprintf("%s/%d/%d", m.Topic, m.Partition, m.Offset), ""
			for _, h := range m.Headers {
				switch h.Name {
				case idem.IdempotencyKey.String():
					key = string(h.Value)
				case idem.RejectReason.String():
					reason = string(h.Value)
				}
			}
			reasons[key] = reason
		}
	}
	return reasons
}

// recorder is the world as an observer.
type recorder struct{ w *World }

func (r recorder) Delivery(ctx context.Context, d *observe.Delivery) {
	r.w.mu.Lock()
	r.w.seen = append(r.w.seen, *d)
	r.w.mu.Unlock()
	if o := r.w.config.Consumer.Observer; o != nil {
		o.Delivery(ctx, d)
	}
}

func (r recorder) Measure(m observe.Metric, labels observe.Labels, value float64) {
	if o := r.w.config.Consumer.Observer; o != nil {
		o.Measure(m, labels, value)
	}
}

// logBuffer is a log of several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

var _ io.Writer = (*logBuffer)(nil)

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
