package consumer

import (
	"context"
	"log/slog"

	"github.com/idem-spec/idem/runtime/go/observe"
)

// angry is an observer and a logger that panics.
type angry struct{}

func (angry) Delivery(context.Context, *observe.Delivery)     { panic("observer") }
func (angry) Measure(observe.Metric, observe.Labels, float64) { panic("observer") }
func (angry) Enabled(context.Context, slog.Level) bool        { return true }
func (angry) Handle(context.Context, slog.Record) error       { panic("logger") }
func (a angry) WithAttrs([]slog.Attr) slog.Handler            { return a }
func (a angry) WithGroup(string) slog.Handler                 { return a }
func angryLog() *slog.Logger                                  { return slog.New(angry{}) }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
