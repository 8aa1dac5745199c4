package guard

import (
	"context"
	"log/slog"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// done says that what follows from a delivery is durable, and tells of it.
func (g *Guard) done(ctx context.Context, d *Delivery) {
	d.Settled = true
	if d.InPlace { // what Again goes on from
		d.Counts = d.Decision.Counts
	}
	g.observe(ctx, d)
	if !g.c.NoDeliveryLog {
		g.log(ctx, d.level(), d.line(), d, d.panicAttrs()...)
	}
}

// observe tells the observer. What it panics with is dropped: it changes no outcome.
func (g *Guard) observe(ctx context.Context, d *Delivery) {
	if g.c.Observer == (observe.None{}) {
		return
	}
	defer func() { _ = recover() }()
	e, m, now := &d.Envelope, d.Message, g.c.Now()
	d.tell = observe.Delivery{
		Scope: g.c.Scope, EventType: e.EventType, Key: d.Key, BizKey: d.BizKey, EventID: e.EventID,
		Topic: m.Topic, Partition: m.Partition, Offset: m.Offset,
		Outcome: d.Result.Outcome, Action: d.Decision.Action, Reason: d.reason(), Counts: d.Decision.Counts,
		RedriveCount: e.RedriveCount, Attempts: d.Grant.Attempts, Delay: d.delay(),
		Handler: d.Handler, Total: max(now.Sub(d.Received), 0), Recovered: d.Grant.Recovered,
		Superseded: d.Superseded, SupersededBy: d.SupersededBy, Layer: d.layer(), Skipped: d.Status == Skipped,
		Traceparent: e.Traceparent, Tracestate: e.Tracestate, Err: d.Err,
	}
	if !d.produced.IsZero() {
		d.tell.Age = max(now.Sub(d.produced), 0)
	}
	g.c.Observer.Delivery(ctx, &d.tell)
}

func (g *Guard) storeError() {
	g.measure(observe.StoreErrors, observe.Labels{Scope: g.c.Scope, Store: g.storeName}, 1)
}

func (g *Guard) measure(m observe.Metric, labels observe.Labels, value float64) {
	defer func() { _ = recover() }()
	g.c.Observer.Measure(m, labels, value)
}

// layer is what kept the message from another effect.
func (d *Delivery) layer() observe.Layer {
	switch {
	case d.Superseded:
		return observe.LayerState
	case d.Result.Outcome == idem.OutcomeDuplicate && d.Layer == observe.LayerNone:
		return observe.LayerHandler
	case d.Result.Outcome == idem.OutcomeDuplicate, d.Result.Outcome == idem.OutcomeStale, d.Result.Outcome == idem.OutcomeKeyReused:
		return d.Layer
	}
	return observe.LayerNone
}

// delay is how long until the next delivery.
func (d *Delivery) delay() time.Duration {
	return time.Duration(d.Decision.Delay.Ms()) * time.Millisecond
}

// reason is why it is no success: what the reject_reason says, and for what has none the outcome's name. A handler's
// error may be of any length: none is longer than in the header.
func (d *Delivery) reason() string {
	reason := d.whole()
	if len(reason) > idem.MaxKeyLen {
		reason = string(idem.AppendReason(nil, reason))
	}
	return reason
}

func (d *Delivery) whole() string {
	switch {
	case d.Status == Parked:
		return reasonParked
	case d.Decision.Reason != "":
		return d.Decision.Reason
	case d.Result.Reason != "":
		return d.Result.Reason
	case d.Result.Outcome == idem.OutcomeOK || d.Status == Skipped:
		return ""
	}
	return d.Result.Outcome.String()
}

// level is loud where somebody has to look, and quiet where all went as it should.
func (d *Delivery) level() slog.Level {
	switch d.Decision.Action {
	case idem.ActionDeadLetter:
		return slog.LevelError
	case idem.ActionRetry:
		return slog.LevelWarn
	case idem.ActionHold, idem.ActionDefer:
		return slog.LevelInfo
	}
	if d.Superseded {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

func (d *Delivery) line() string {
	switch {
	case d.Status == Skipped:
		return "message skipped"
	case d.Status == Parked:
		return "message parked"
	case d.InPlace:
		return "message held in place"
	}
	switch d.Decision.Action {
	case idem.ActionDeadLetter:
		return "message dead-lettered"
	case idem.ActionRetry:
		return "message will be retried"
	case idem.ActionHold:
		return "message held"
	case idem.ActionDefer:
		return "message deferred"
	}
	return "message done"
}

// log writes a line about a message: never its payload. What the logger panics with is dropped.
func (g *Guard) log(ctx context.Context, level slog.Level, line string, d *Delivery, more ...slog.Attr) {
	defer func() { _ = recover() }()
	if !g.c.Log.Enabled(ctx, level) {
		return
	}
	key, event := d.Key, d.Envelope.EventType
	if d.Envelope.Present == 0 { // faulty headers
		key, event = rawText(d.Message.Headers, idem.IdempotencyKey), rawText(d.Message.Headers, idem.EventType)
	}
	attrs := make([]slog.Attr, 0, 16)
	attrs = append(attrs,
		slog.String("idempotency_key", key), slog.String("event_type", event), slog.String("scope", g.c.Scope),
		slog.String("topic", d.Message.Topic), slog.Int64("partition", int64(d.Message.Partition)), slog.Int64("offset", d.Message.Offset),
		slog.String("outcome", d.Result.Outcome.String()),
	)
	if d.Decision.Action != 0 {
		attrs = append(attrs, slog.String("action", d.Decision.Action.String()))
	}
	if reason := d.reason(); reason != "" {
		attrs = append(attrs, slog.String("reason", reason))
	}
	if n := d.Decision.Counts.Retry; n != 0 {
		attrs = append(attrs, slog.Int64("retry_count", int64(n)))
	}
	if delay := d.delay(); delay != 0 {
		attrs = append(attrs, slog.Duration("delay", delay))
	}
	if d.Superseded {
		attrs = append(attrs, slog.String("superseded_by", d.SupersededBy))
	}
	g.c.Log.LogAttrs(ctx, level, line, append(attrs, more...)...)
}
