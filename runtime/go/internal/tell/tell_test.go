package tell

import (
	"context"
	"log/slog"
	"testing"

	"github.com/idem-spec/idem/runtime/go/observe"
)

type angry struct {
	observe.None
	slog.Handler
	calls int
}

func (a *angry) Measure(observe.Metric, observe.Labels, float64) { a.calls++; panic("observer") }
func (a *angry) Enabled(context.Context, slog.Level) bool        { return true }
func (a *angry) Handle(context.Context, slog.Record) error       { a.calls++; panic("logger") }

func TestFault20_aFailingObserverOrLoggerChangesNothing(t *testing.T) {
	t.Parallel()
	a := new(angry)
	teller := Teller{Observer: a, Log: slog.New(a)}
	teller.Measure(observe.OutboxSent, observe.Labels{}, 1)
	teller.Warn(t.Context(), "a")
	teller.Info(t.Context(), "b")
	teller.Error(t.Context(), "c")
	if a.calls != 4 {
		t.Errorf("told %d times, want 4", a.calls)
	}
}
