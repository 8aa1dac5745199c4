package consumer

import (
	"context"
	"errors"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// fetchLoop reads one partition, as far as its window has room.
func (e *engine) fetchLoop(ctx context.Context, p *partition) {
	offset := p.committed
	failed := 0
	var pending []*task
	for ctx.Err() == nil {
		batch, err := p.share.generation.Fetch(ctx, p.TopicPartition, offset, e.config.FetchBytes)
		switch {
		case err == nil:
			if failed > 0 {
				e.outage.over(e, "fetch")
			}
			failed = 0
		case errors.Is(err, broker.ErrGenerationOver) || ctx.Err() != nil:
			return
		default:
			e.outage.begins(e, "fetch", err)
			sleep(ctx, backoff(failed))
			failed++
			continue
		}
		e.mu.Lock()
		p.end = max(p.end, batch.End)
		e.mu.Unlock()
		messages := batch.Messages
		for len(messages) > 0 && ctx.Err() == nil {
			n := min(len(messages), admitAtOnce)
			pending = e.open(p, messages[:n], pending[:0])
			e.admit(ctx, p, pending)
			clear(pending)
			messages = messages[n:]
		}
		if n := len(batch.Messages); n > 0 {
			offset = max(offset, batch.Messages[n-1].Offset+1)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// admitAtOnce is how many messages are parsed between two looks at the window.
const admitAtOnce = 256

// The words in front of the reject_reason.
const codeUnknownEventType = "UNKNOWN_EVENT_TYPE"

// open makes tasks of messages. It is the work that needs no lock.
func (e *engine) open(p *partition, messages []broker.Message, into []*task) []*task {
	for i := range messages {
		m := &messages[i]
		t := e.newTask()
		t.part, t.size = p, sizeOf(m)
		e.guard.Parse(&t.d, m)
		e.route(t)
		if key, ok := laneOf(t); ok {
			t.hash = key.hashOf()
		}
		into = append(into, t)
	}
	return into
}

// route finds the route of a message. What is of no route ends here. (CONS-006)
func (e *engine) route(t *task) {
	d := &t.d
	t.route = e.routes[0] // for what never runs, any will do
	event := d.Envelope.EventType
	switch r := e.byType[event]; {
	case d.Status != guard.Opened:
	case r != nil:
		t.route = r
	case event == "" && len(e.byType) == 1: // the only one it can be
	case e.ignored[event]:
		d.Status = guard.Skipped
		return
	case event == "":
		d.End(idem.Result{Outcome: idem.OutcomeNonRetryable, Reason: codeUnknownEventType + ": no event_type header, and several routes: set the header (payload.Message does)"}, nil)
		return
	default:
		d.End(idem.Result{Outcome: idem.OutcomeNonRetryable, Reason: codeUnknownEventType + ": no route handles " + event + ", nor is it in Ignore"}, nil)
		return
	}
	e.guard.Route(d, &t.route.rules)
	if t.route.Shadow && d.Status != guard.Skipped {
		e.shadow(t)
	}
}

// sizeOf is what a message takes in memory, about.
func sizeOf(m *broker.Message) int64 {
	n := len(m.Value) + len(m.Key) + 64
	for i := range m.Headers {
		n += len(m.Headers[i].Name) + len(m.Headers[i].Value) + 48
	}
	return int64(n)
}

// admit puts tasks into the window, and waits for room where there is none.
func (e *engine) admit(ctx context.Context, p *partition, pending []*task) {
	for len(pending) > 0 {
		e.mu.Lock()
		n := 0
		settle := false
		ample := e.ample(p)
		for _, t := range pending {
			if ample || p.share.revoked || !p.window.fits(p.mark.span(), t.size) {
				break
			}
			n++
			seq, ok := p.mark.add(t.d.Message.Offset, t)
			if !ok {
				e.recycle(t)
				continue
			}
			t.seq = seq
			p.window.bytes += t.size
			settle = e.enter(t) || settle
		}
		if settle {
			e.settlers.Signal()
		}
		e.relieve(p, n < len(pending) && !ample)
		p.full = n < len(pending) && !ample
		if ample {
			e.patient = append(e.patient, p)
		}
		e.mu.Unlock()
		if pending = pending[n:]; len(pending) == 0 {
			return
		}
		var again <-chan time.Time
		if ample { // what made it so may be gone without a word: a route that is paused, for one
			again = time.After(aheadFor)
		}
		select {
		case <-p.room:
		case <-again:
		case <-ctx.Done():
			e.mu.Lock()
			defer e.mu.Unlock()
			for _, t := range pending {
				e.recycle(t)
			}
			return
		}
	}
}

// ample says that enough waits to be claimed to keep everybody at work until more is fetched: what lies ready for
// longer only falls out of the processor's caches. It is so with handlers that take next to no time, so that nothing
// waits for the messages of another route, and never for a partition that has nothing on its way. The caller holds the
// lock.
func (e *engine) ample(p *partition) bool {
	if p.mark.span() == 0 {
		return false
	}
	n := 0
	var work time.Duration
	for _, r := range e.routes {
		if r.paused || r.breaker.state != breakerClosed || r.batch != nil {
			continue
		}
		n += r.waiting.len()
		work += time.Duration(r.waiting.len()) * r.handler
	}
	return n >= 2*e.atOnce && work/time.Duration(e.config.Workers) < aheadFor
}

// resume has those go on that were patient, once there is no longer enough. The caller holds the lock.
func (e *engine) resume() {
	if len(e.patient) == 0 || e.ample(e.patient[0]) {
		return
	}
	for _, p := range e.patient {
		select {
		case p.room <- struct{}{}:
		default:
		}
	}
	clear(e.patient)
	e.patient = e.patient[:0]
}

// enter is a task's first step; true where that is its settlement. The caller holds the lock.
func (e *engine) enter(t *task) bool {
	d := &t.d
	if t.shadow {
		e.takeOff(t, settling)
		e.finish(t)
		return false
	}
	if d.Status != guard.Opened {
		e.takeOff(t, settling)
		e.toSettle(t)
		return true
	}
	key, ok := laneOf(t)
	if !ok || e.lanes.enter(key, t) {
		e.wait(t)
	}
	return false
}

// laneOf is the lane of a task, and false where it has none.
func laneOf(t *task) (laneKey, bool) {
	d := &t.d
	switch {
	case t.route.Order != guard.Unordered && d.BizKey != "":
		return laneKey{topic: t.part.origin, key: d.BizKey}, true
	case d.Key != "":
		return laneKey{copies: true, topic: t.part.origin, key: d.Key}, true
	}
	return laneKey{}, false
}

// relieve sends to the store what is held in place and keeps a window from moving: its oldest message, once half
// of the window is taken, and all of them where it is full. The caller holds the lock. (CONS-012)
func (e *engine) relieve(p *partition, full bool) {
	switch {
	case p.held == 0:
		return
	case full:
		p.mark.each(e.unhold)
		return
	}
	if t := p.mark.oldest(); t != nil && t.state == held && p.crowded() {
		e.unhold(t)
	}
}
