package simulate

import (
	"context"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/outbox"
)

// produce starts a producer of streams, with a relay beside it. It goes on where the one before was
// acknowledged last, and ends when all is.
func (w *world) produce(name string, of []*stream, r rates) (*process, error) {
	p := w.newProcess(name, r)
	quiet := slog.New(slog.DiscardHandler)
	box, err := outbox.New(p.store, p.broker, outbox.Config{Timeout: 2 * time.Second, Log: quiet})
	if err != nil {
		p.ended <- err
		return p, err
	}
	relay, err := outbox.NewRelay(p.store, p.broker, outbox.RelayConfig{
		Timeout: 2 * time.Second, Lease: 8 * time.Second, Poll: time.Second, Revive: 10 * time.Second, Log: quiet,
	})
	if err != nil {
		p.ended <- err
		return p, err
	}
	p.run(func(ctx context.Context) error {
		relaying := make(chan error, 1)
		go func() { relaying <- relay.Run(ctx) }()
		for ctx.Err() == nil && p.publish(ctx, box, of) {
		}
		<-ctx.Done()
		return <-relaying
	})
	return p, nil
}

// publish publishes the next messages of some stream, and says whether there are more.
func (p *process) publish(ctx context.Context, box *outbox.Outbox, of []*stream) (more bool) {
	var open []*stream
	p.w.mu.Lock()
	for _, s := range of {
		if s.sent < s.size {
			open = append(open, s)
		}
	}
	p.w.mu.Unlock()
	if len(open) == 0 {
		return false
	}
	s := open[p.chance.below(len(open))]
	first := s.sent
	n := 1 + p.chance.below(min(3, s.size-first))
	batch := make([]broker.Message, 0, n+1)
	for i := first; i < first+n; i++ {
		batch = append(batch, s.message(p.w.seed, i))
		p.w.produced(s, i, false)
	}
	if p.chance.one(12) { // it is not sure, and sends the last one twice
		batch = append(batch, batch[n-1])
	}
	if last := batch[n-1]; isDual(p.w.seed, s.key(first+n-1)) && !s.inOrder() {
		batch = append(batch, old(last))
		if p.chance.one(2) {
			batch[n-1], batch[len(batch)-1] = batch[len(batch)-1], batch[n-1]
		}
	}
	results, _ := box.Publish(ctx, batch...)
	for i := 0; i < n && results[i] != outbox.Neither && !p.isDead(); i++ {
		p.w.produced(s, first+i, true)
		p.w.note(p.name, "%s is %s", s.key(first+i), results[i])
		if results[i] == outbox.Confirmed && p.chance.one(25) { // once more, later, as from a broker that was restored
			copies := batch[i : i+1]
			time.AfterFunc(p.chance.upTo(20*time.Second), func() { p.w.broker.Publish(context.Background(), copies) })
		}
	}
	if p.chance.one(2) && !p.w.isCalm() {
		select {
		case <-time.After(p.chance.upTo(2 * time.Second)):
		case <-ctx.Done():
		}
	}
	return true
}

// produced notes a message, which a producer tries to send, or was told to be confirmed or stored.
func (w *world) produced(s *stream, i int, acknowledged bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := history.Produced{Key: s.key(i), Seq: int64(i), Mode: s.mode, Acknowledged: acknowledged}
	if s.inOrder() {
		p.Lane = s.lane
	}
	w.history.Produced = append(w.history.Produced, p)
	if acknowledged {
		s.sent = i + 1
	}
}
