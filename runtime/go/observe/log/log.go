// Package log writes a line to log/slog for each delivery that was no plain success. Every line has
// idempotency_key and event_type; none has the payload. It is in place of the consumer's own lines about deliveries,
// which have less: NoDeliveryLog turns those off, or each failure is logged twice.
//
//	consumer.Config{
//		Observer: observe.Multi(metrics, log.New(log.Config{})),
//		Guard:    guard.Config{NoDeliveryLog: true},
//	}
//
// The levels: ERROR for dead letters; WARN for retries, lost leases and superseded messages; INFO for holds,
// deferrals and what was taken over from a crash; DEBUG for duplicates, and for a sample of successes.
package log

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
)

// maxText is the most bytes of a reason or an error in a line.
const maxText = 1024

// Config of a Logger. The zero value is good.
type Config struct {
	Logger *slog.Logger // nil: slog.Default(), as it is at each line
	// SuccessEvery writes every so many successes, at DEBUG: 1 is all, 0 none.
	SuccessEvery int
}

// Logger is an observe.Observer that writes lines.
type Logger struct {
	logger    *slog.Logger
	every     uint64
	successes atomic.Uint64
}

// New makes a Logger.
func New(c Config) *Logger {
	return &Logger{logger: c.Logger, every: uint64(max(c.SuccessEvery, 0))}
}

// Measure does nothing.
func (l *Logger) Measure(observe.Metric, observe.Labels, float64) {}

// Delivery writes a line about a delivery, or none.
func (l *Logger) Delivery(ctx context.Context, d *observe.Delivery) {
	level, word := line(d)
	if word == succeeded && (l.every == 0 || l.successes.Add(1)%l.every != 0) {
		return
	}
	logger := l.logger
	if logger == nil {
		logger = slog.Default()
	}
	if !logger.Enabled(ctx, level) {
		return
	}
	logger.LogAttrs(ctx, level, word, attrs(d)...)
}

const succeeded = "message handled"

// line says what a line about a delivery begins with.
func line(d *observe.Delivery) (slog.Level, string) {
	switch {
	case d.Skipped:
		return slog.LevelDebug, "message skipped"
	case d.Shadow:
		return slog.LevelDebug, "message decided in shadow mode"
	case d.Action == idem.ActionDeadLetter:
		return slog.LevelError, "message dead-lettered"
	case d.Superseded:
		return slog.LevelWarn, "message superseded by another key"
	case d.Outcome == idem.OutcomeFenced:
		return slog.LevelWarn, "lease lost while the handler ran"
	}
	switch d.Action {
	case idem.ActionRetry:
		return slog.LevelWarn, "message will be retried"
	case idem.ActionHold:
		return slog.LevelInfo, "message held until its predecessor comes"
	case idem.ActionDefer:
		return slog.LevelInfo, "message deferred: another claim is live"
	}
	switch {
	case d.Outcome == idem.OutcomeDuplicate:
		return slog.LevelDebug, "duplicate acknowledged"
	case d.Outcome == idem.OutcomeStale:
		return slog.LevelDebug, "stale delivery acknowledged"
	case d.Outcome != idem.OutcomeOK:
		return slog.LevelWarn, "message ended"
	case d.Recovered:
		return slog.LevelInfo, "message handled after a crash"
	}
	return slog.LevelDebug, succeeded
}

// attrs are those of the delivery that have something to say.
func attrs(d *observe.Delivery) []slog.Attr {
	a := make([]slog.Attr, 0, 20)
	text := func(name, value string) {
		if value != "" {
			a = append(a, slog.String(name, cut(value)))
		}
	}
	a = append(a, slog.String("idempotency_key", d.Key), slog.String("event_type", d.EventType), slog.String("scope", d.Scope))
	text("biz_key", d.BizKey)
	text("event_id", d.EventID)
	if d.Topic != "" { // a call has none
		a = append(a, slog.String("topic", d.Topic), slog.Int("partition", int(d.Partition)), slog.Int64("offset", d.Offset))
	}
	a = append(a, slog.String("outcome", d.Outcome.String()))
	if d.Action != 0 {
		a = append(a, slog.String("action", d.Action.String()))
	}
	text("reason", d.Reason)
	for _, n := range []struct {
		name  string
		value int64
	}{{"retry_count", int64(d.Counts.Retry)}, {"hold_count", int64(d.Counts.Hold)}, {"redrive_count", int64(d.RedriveCount)}, {"attempts", d.Attempts}} {
		if n.value != 0 {
			a = append(a, slog.Int64(n.name, n.value))
		}
	}
	if d.Delay != 0 {
		a = append(a, slog.Duration("delay", d.Delay))
	}
	if d.Handler != 0 {
		a = append(a, slog.Duration("handler", d.Handler))
	}
	a = append(a, slog.Duration("total", d.Total))
	text("superseded_by", d.SupersededBy)
	if d.Err != nil {
		text("at", placeOf(d))
		if cause := errorText(d.Err); cause != d.Reason {
			text("error", cause)
		}
	}
	return a
}

// placeOf is where a handler panicked. Nothing else is asked for it: an error's own methods may panic.
func placeOf(d *observe.Delivery) string {
	var p interface{ PanickedAt() string }
	if strings.HasPrefix(d.Reason, "PANIC:") && errors.As(d.Err, &p) {
		return p.PanickedAt()
	}
	return ""
}

// errorText survives an error whose Error panics.
func errorText(err error) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("the Error method of a %T panicked", err)
		}
	}()
	return err.Error()
}

func cut(s string) string {
	if len(s) > maxText {
		return s[:maxText] + "…"
	}
	return s
}
