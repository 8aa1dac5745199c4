package retry

import (
	"context"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/confirm"
	"github.com/idem-spec/idem/runtime/go/internal/member"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// window is the part of a partition that a forwarder looks at: what is fetched and not yet done, with all
// that lies between.
type window struct {
	forwarder *Forwarder
	partition *member.Partition
	stop      stop
	bucket    time.Duration
	messages  []waiting
	// more says that there are messages behind the window.
	more     bool
	failures int
	notUntil time.Time // a failure pauses the partition
}

func (f *Forwarder) work(ctx context.Context, p *member.Partition) {
	w := &window{forwarder: f, partition: p, stop: f.delay.stops[p.Topic], bucket: f.delay.bucketOf(p.Topic)}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		batches := p.Batches
		if len(w.messages) >= f.config.Window {
			batches = nil
		}
		select {
		case <-ctx.Done():
			return
		case batch := <-batches:
			w.add(batch)
		case <-timer.C:
		}
		if !w.notUntil.After(f.config.Now()) {
			w.forward(ctx)
		}
		timer.Reset(w.pause())
	}
}

func (w *window) add(batch broker.Batch) {
	for i := range batch.Messages {
		m := &batch.Messages[i]
		w.messages = append(w.messages, waiting{Message: *m, due: dueOf(m)})
	}
	w.more = false
	if n := len(w.messages); n > 0 {
		w.more = batch.End > w.messages[n-1].Offset+1
	}
}

// forward publishes what is due, and what is in its way to a delay topic again, in one publication.
func (w *window) forward(ctx context.Context) {
	now := w.forwarder.config.Now()
	var messages []broker.Message
	var index []int
	for i := range w.messages {
		m := &w.messages[i]
		if m.done {
			continue
		}
		left := m.due.Sub(now)
		if left > 0 && !w.inTheWay(m, now) {
			continue
		}
		next := broker.Message{Topic: w.stop.retryTopic, Key: m.Key, Value: m.Value, Headers: m.Headers}
		if left > 0 {
			next.Topic = w.forwarder.delay.waitIn(w.stop.origin, left)
		}
		messages = append(messages, next)
		index = append(index, i)
	}
	if len(messages) == 0 {
		return
	}
	// It goes on when the generation is over: a publication that is given up may be there all the same.
	detached, cancel := wait.Outlasting(ctx, time.Minute, w.forwarder.config.Timeout)
	defer cancel()
	w.settle(ctx, index, messages, confirm.Publish(detached, w.forwarder.publisher(), messages, nil, w.forwarder.config.Timeout))
}

// inTheWay says whether a message that is not due is moved on: where there are messages behind the window
// that nobody sees, and it has waited for as long as its bucket says, so that they may be due.
func (w *window) inTheWay(m *waiting, now time.Time) bool {
	return w.full() && now.Sub(m.Time) >= w.bucket
}

func (w *window) full() bool { return w.more && len(w.messages) >= w.forwarder.config.Window }

func (w *window) settle(ctx context.Context, index []int, messages []broker.Message, errs []error) {
	f := w.forwarder
	published := 0
	for i, at := range index {
		if errs == nil || errs[i] == nil {
			w.messages[at].done = true
			if messages[i].Topic == w.stop.retryTopic {
				published++
			}
			continue
		}
		f.tell.Error(ctx, "retry forwarder: not published, trying again; nothing is committed past it",
			slog.String("idempotency_key", keyOf(messages[i].Headers)), slog.String("topic", messages[i].Topic),
			slog.Int64("offset", w.messages[at].Offset), slog.Any("error", errs[i]))
	}
	if published > 0 {
		f.tell.Measure(observe.RetriesPublished, observe.Labels{Topic: w.stop.retryTopic}, float64(published))
	}
	if errs == nil {
		w.failures, w.notUntil = 0, time.Time{}
	} else {
		w.notUntil = f.config.Now().Add(wait.Doubled(100*time.Millisecond, 10*time.Second, w.failures))
		w.failures++
	}
	n := 0
	for n < len(w.messages) && w.messages[n].done {
		n++
	}
	if n > 0 {
		w.partition.Done(w.messages[n-1].Offset + 1)
		w.messages = append(w.messages[:0], w.messages[n:]...)
	}
}

// pause is until there is something to do without another fetch.
func (w *window) pause() time.Duration {
	now := w.forwarder.config.Now()
	pause := time.Hour
	for i := range w.messages {
		m := &w.messages[i]
		if m.done {
			continue
		}
		pause = min(pause, m.due.Sub(now))
		if w.full() {
			pause = min(pause, w.bucket-now.Sub(m.Time))
		}
	}
	return max(pause, w.notUntil.Sub(now), time.Millisecond)
}

func (f *Forwarder) publisher() broker.Publisher { return f.broker }

func keyOf(headers idem.Headers) string {
	for i := range headers {
		if headers[i].Name == idem.IdempotencyKey.String() {
			return string(headers[i].Value)
		}
	}
	return ""
}
