// Package tell tells observers and logs what happened, and lets neither of them change it: what they
// panic with is dropped.
package tell

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/idem-spec/idem/runtime/go/observe"
)

// Teller tells. Its zero value logs to slog.Default and measures nothing.
type Teller struct {
	Observer observe.Observer
	Log      *slog.Logger
}

// Measure adds to a counter or sets a gauge.
func (t Teller) Measure(m observe.Metric, labels observe.Labels, value float64) {
	if t.Observer == nil {
		return
	}
	defer drop()
	t.Observer.Measure(m, labels, value)
}

// Info logs what went well.
func (t Teller) Info(ctx context.Context, message string, attrs ...slog.Attr) {
	t.log(ctx, slog.LevelInfo, message, attrs)
}

// Warn logs what goes on by itself.
func (t Teller) Warn(ctx context.Context, message string, attrs ...slog.Attr) {
	t.log(ctx, slog.LevelWarn, message, attrs)
}

// Error logs what somebody has to look at.
func (t Teller) Error(ctx context.Context, message string, attrs ...slog.Attr) {
	t.log(ctx, slog.LevelError, message, attrs)
}

func (t Teller) log(ctx context.Context, level slog.Level, message string, attrs []slog.Attr) {
	defer drop()
	log := t.Log
	if log == nil {
		log = slog.Default()
	}
	log.LogAttrs(ctx, level, message, attrs...)
}

func drop() { _ = recover() }

// StoreName is what the label store of a metric says of a store that nobody has named: its package.
func StoreName(store any) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", store), "*"), ".")
	return name
}
