package consumer

import (
	"context"
	"sync/atomic"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// share is what this process has of the group for one generation. Its fields are under the engine's lock.
type share struct {
	generation broker.Generation
	parts      []*partition
	// contexts are those of the handlers, by route: what Kill ends.
	contexts []atomic.Pointer[handlerContext]
	base     context.Context // what all of them end with
	cancel   context.CancelFunc

	flight    int  // tasks in flight
	revoked   bool // nothing of it begins any more
	cancelled bool // and its handlers were told to stop
	idle      chan struct{}
}

// handlerContext is the context of the handlers of one route.
type handlerContext struct {
	context.Context
	cancel context.CancelFunc
}

// partition is one partition in one generation. Its fields but for the first four are under the engine's lock.
type partition struct {
	broker.TopicPartition
	share  *share
	origin int32         // of the topic, among the consumer's
	room   chan struct{} // told of once there is more, where full is set

	mark      *watermark
	window    window
	full      bool
	held      int // tasks that are held in place
	committed int64
	end       int64 // the broker's, at the last fetch
	lag       int64 // at the last measurement
}

func (e *engine) newShare(generation broker.Generation) *share {
	assignments := generation.Assignments()
	s := &share{generation: generation, idle: make(chan struct{}), contexts: make([]atomic.Pointer[handlerContext], len(e.routes))}
	s.base, s.cancel = context.WithCancel(e.base)
	for _, r := range e.routes {
		s.renew(r)
	}
	for _, a := range assignments {
		s.parts = append(s.parts, &partition{
			TopicPartition: a.TopicPartition, share: s, room: make(chan struct{}, 1), origin: e.config.originOf(a.Topic),
			mark: newWatermark(a.Offset), committed: a.Offset, end: a.Offset,
			window: window{maxMessages: e.config.Window, maxBytes: max(e.config.WindowBytes/int64(len(assignments)), 1)},
		})
	}
	return s
}

// context is that of the handlers of a route.
func (s *share) context(r *route) context.Context { return s.contexts[r.index].Load() }

// renew gives the handlers of a route a new context.
func (s *share) renew(r *route) {
	ctx, cancel := context.WithCancel(s.base)
	s.contexts[r.index].Store(&handlerContext{ctx, cancel})
}

// landed takes note of a task that is no longer in flight. The caller holds the engine's lock.
func (s *share) landed() {
	s.flight--
	if s.revoked && s.flight == 0 {
		close(s.idle)
	}
}

// roomier tells whoever waits for room in the window. The caller holds the engine's lock.
func (p *partition) roomier() {
	if p.full {
		p.full = false
		select {
		case p.room <- struct{}{}:
		default:
		}
	}
}

// crowded says that what only waits should do so elsewhere. The caller holds the engine's lock.
func (p *partition) crowded() bool { return p.window.half(p.mark.span()) }

// revoke ends a share: nothing of it begins any more, what waits is forgotten, and what is claimed and has not
// begun is given back.
func (e *engine) revoke(s *share) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.revoked = true
	for _, r := range e.routes {
		e.recall(r, func(t *task) bool { return t.part.share == s })
	}
	for _, p := range s.parts {
		p.mark.each(func(t *task) {
			if !t.state.inFlight() {
				e.drop(t)
			}
		})
	}
	if s.flight == 0 {
		close(s.idle)
	}
}

// end has everything that is settled later move nothing.
func (e *engine) end(s *share) {
	s.cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range s.parts {
		p.mark.close()
	}
}

// cancelHandlers tells the handlers of a share to stop.
func (e *engine) cancelHandlers(s *share) {
	e.mu.Lock()
	s.cancelled = true
	e.mu.Unlock()
	s.cancel()
}
