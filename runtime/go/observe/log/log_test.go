package log_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/idem-spec/idem/runtime/go/observe/log"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// written is what a delivery becomes, nil where there is no line.
func written(t *testing.T, c log.Config, d *observe.Delivery) map[string]any {
	t.Helper()
	var out bytes.Buffer
	c.Logger = slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	log.New(c).Delivery(context.Background(), d)
	if out.Len() == 0 {
		return nil
	}
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), "one line: %s", out.String())
	return line
}

func TestLevelSaysHowMuchItMatters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		delivery observe.Delivery
		level    string
		message  string
	}{
		"success":       {observe.Delivery{Outcome: idem.OutcomeOK, Action: idem.ActionAck}, "", ""},
		"recovered":     {observe.Delivery{Outcome: idem.OutcomeOK, Action: idem.ActionAck, Recovered: true}, "INFO", "message handled after a crash"},
		"duplicate":     {observe.Delivery{Outcome: idem.OutcomeDuplicate, Action: idem.ActionAck}, "DEBUG", "duplicate acknowledged"},
		"stale":         {observe.Delivery{Outcome: idem.OutcomeStale, Action: idem.ActionAck}, "DEBUG", "stale delivery acknowledged"},
		"superseded":    {observe.Delivery{Outcome: idem.OutcomeDuplicate, Action: idem.ActionAck, Superseded: true, SupersededBy: "k0"}, "WARN", "message superseded by another key"},
		"retry":         {observe.Delivery{Outcome: idem.OutcomeRetryable, Action: idem.ActionRetry}, "WARN", "message will be retried"},
		"hold":          {observe.Delivery{Outcome: idem.OutcomeOutOfOrder, Action: idem.ActionHold}, "INFO", "message held until its predecessor comes"},
		"in progress":   {observe.Delivery{Outcome: idem.OutcomeInProgress, Action: idem.ActionDefer}, "INFO", "message deferred: another claim is live"},
		"fenced":        {observe.Delivery{Outcome: idem.OutcomeFenced, Action: idem.ActionDefer}, "WARN", "lease lost while the handler ran"},
		"dead letter":   {observe.Delivery{Outcome: idem.OutcomeRetryable, Action: idem.ActionDeadLetter}, "ERROR", "message dead-lettered"},
		"malformed":     {observe.Delivery{Outcome: idem.OutcomeMalformed, Action: idem.ActionDeadLetter}, "ERROR", "message dead-lettered"},
		"skipped":       {observe.Delivery{Skipped: true}, "DEBUG", "message skipped"},
		"shadow":        {observe.Delivery{Outcome: idem.OutcomeConflict, Action: idem.ActionDeadLetter, Shadow: true}, "DEBUG", "message decided in shadow mode"},
		"without a say": {observe.Delivery{Outcome: idem.OutcomeRetryable}, "WARN", "message ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := written(t, log.Config{}, &c.delivery)
			if c.level == "" {
				assert.Nil(t, line)
				return
			}
			assert.Equal(t, c.level, line["level"])
			assert.Equal(t, c.message, line["msg"])
			assert.Contains(t, line, "idempotency_key")
			assert.Contains(t, line, "event_type")
		})
	}
}

func TestLineHasWhatExplainsIt(t *testing.T) {
	t.Parallel()
	line := written(t, log.Config{}, &observe.Delivery{
		Scope: "payments", EventType: "orders.paid", Key: "orders.paid:v1:8317", BizKey: "8317", EventID: "e-1", Topic: "orders", Partition: 3, Offset: 99,
		Outcome: idem.OutcomeThrottled, Action: idem.ActionRetry, Reason: "THROTTLED: 429", Counts: idem.Counts{Retry: 2}, Attempts: 3,
		Delay: 2 * time.Second, Handler: time.Millisecond, Total: 2 * time.Millisecond, Err: errors.New("bank says\nwait"),
	})
	delete(line, "time")
	assert.Equal(t, map[string]any{
		"level": "WARN", "msg": "message will be retried", "scope": "payments", "event_type": "orders.paid", "idempotency_key": "orders.paid:v1:8317",
		"biz_key": "8317", "event_id": "e-1", "topic": "orders", "partition": 3.0, "offset": 99.0, "outcome": "THROTTLED", "action": "RETRY",
		"reason": "THROTTLED: 429", "retry_count": 2.0, "attempts": 3.0, "delay": 2e9, "handler": 1e6, "total": 2e6, "error": "bank says\nwait",
	}, line)
}

func TestCallWithoutATopicOrAnActionSaysNothingOfThem(t *testing.T) {
	t.Parallel()
	line := written(t, log.Config{}, &observe.Delivery{Scope: "payments", EventType: "POST.payments", Key: "k", Outcome: idem.OutcomeKeyReused})
	delete(line, "time")
	assert.Equal(t, map[string]any{
		"level": "WARN", "msg": "message ended", "scope": "payments", "event_type": "POST.payments", "idempotency_key": "k", "outcome": "KEY_REUSED", "total": 0.0,
	}, line)
}

func TestSuccessesAreSampled(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := log.New(log.Config{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), SuccessEvery: 10})
	for range 100 {
		l.Delivery(context.Background(), &observe.Delivery{Outcome: idem.OutcomeOK, Action: idem.ActionAck})
	}
	assert.Equal(t, 10, strings.Count(out.String(), "message handled"))
}

type panicked struct{ error }

func (panicked) PanickedAt() string { return "handlers.go:34" }

func TestThePlaceOfAPanicIsSaid(t *testing.T) {
	t.Parallel()
	d := &observe.Delivery{Outcome: idem.OutcomeRetryable, Action: idem.ActionRetry, Reason: "PANIC: x", Err: fmt.Errorf("in a transaction: %w", panicked{errors.New("PANIC: x")})}
	assert.Equal(t, "handlers.go:34", written(t, log.Config{}, d)["at"])
}

type angry struct{}

func (*angry) Error() string { panic("no text") }

func TestErrorThatPanicsIsALineToo(t *testing.T) {
	t.Parallel()
	line := written(t, log.Config{}, &observe.Delivery{Outcome: idem.OutcomeRetryable, Action: idem.ActionRetry, Err: &angry{}})
	assert.Equal(t, "the Error method of a *log_test.angry panicked", line["error"])
}

func TestLongReasonIsCut(t *testing.T) {
	t.Parallel()
	line := written(t, log.Config{}, &observe.Delivery{Action: idem.ActionRetry, Reason: strings.Repeat("x", 5000)})
	assert.Len(t, line["reason"], 1024+len("…"))
}

func TestSuccessThatIsNotLoggedAllocatesNothing(t *testing.T) {
	l := log.New(log.Config{})
	d := &observe.Delivery{Outcome: idem.OutcomeOK, Action: idem.ActionAck}
	assert.Zero(t, testing.AllocsPerRun(100, func() { l.Delivery(context.Background(), d) }))
}
