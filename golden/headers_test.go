package golden_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// HDR-020 to HDR-022, PLUG-010.
func TestHeaders(t *testing.T) {
	t.Parallel()
	m := &pb.Everything{
		Id: "p/17", Line: 3, OrderId: "o-17", Amount: "100.00", Currency: "USD", OccurredAt: &timestamppb.Timestamp{Seconds: 1735704000, Nanos: 5000000},
	}
	require.Equal(t, []string{
		"idempotency_key: conformance.templates.everything:v2:p%2F17:3",
		"event_id: e-1",
		"event_type: conformance.templates.everything",
		"biz_key: o-17",
		"topic: orders",
		"produced_at: 2025-01-01T04:00:01.999Z",
		"occurred_at: 2025-01-01T04:00:00.005Z",
		"traceparent: 00-1",
		"tracestate: a=b",
		"expected_current_state: PAYING",
		"idempotency_key_previous: conformance.templates.everything:v1:p%2F17",
		fmt.Sprintf("fingerprint: %08x-%016x", idem.TemplateHash("{amount}:{currency}"), idem.Hash("100:USD")),
		"idem_spec: 1",
		"max_retry: 7",
		"max_hold: 0",
		"backoff_base: 2",
		"backoff_jitter: 0",
		"backoff_max: 600",
	}, headersOf(t, m, idem.Context{
		EventID: "e-1", Topic: "orders", ProducedAt: time.Unix(1735704001, 999999999), Traceparent: "00-1", Tracestate: "a=b",
	}))

	require.Equal(t, []string{
		"idempotency_key: conformance.retry.schedule:v1:a", "event_type: conformance.retry.schedule", "idem_spec: 1",
		"max_retry: 3", "max_hold: 20", "backoff_jitter: 500", "backoff_schedule: 10000,30000,604800000",
	}, headersOf(t, &pb.RetrySchedule{Id: "a"}, idem.Context{}))
	require.Equal(t, []string{
		"idempotency_key: conformance.retry.defaults:v1:a", "event_type: conformance.retry.defaults", "idem_spec: 1",
		"max_retry: 5", "max_hold: 20", "backoff_base: 1", "backoff_jitter: 1000", "backoff_max: 300",
	}, headersOf(t, &pb.RetryDefaults{Id: "a"}, idem.Context{}))
	require.Equal(t, []string{
		"idempotency_key: conformance.states.ticket_created:v1:a", "event_type: conformance.states.ticket_created", "expected_current_state: ", "idem_spec: 1",
	}, headersOf(t, &pb.TicketCreated{Id: "a"}, idem.Context{}))
}

func headersOf(t *testing.T, m keyed, c idem.Context) []string {
	t.Helper()
	headers, err := m.IdemHeaders(c)
	require.NoError(t, err)
	lines := make([]string, len(headers))
	for i, h := range headers {
		lines[i] = h.Name + ": " + string(h.Value)
	}
	return lines
}

// HDR-021.
func TestOccurredAt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		message keyed
		want    string // "" for no header
	}{
		{"missing", &pb.OccurredAt{Id: "a"}, ""},
		{"set", &pb.OccurredAt{Id: "a", At: &timestamppb.Timestamp{}}, "1970-01-01T00:00:00.000Z"},
		{"text", &pb.OccurredAtText{Id: "a", At: "2025-01-01T00:00:00.9Z"}, "2025-01-01T00:00:00Z"},
		{"epoch of zero", &pb.OccurredAtEpoch{Id: "a"}, ""},
		{"epoch", &pb.OccurredAtEpoch{Id: "a", At: -1}, "1969-12-31T23:59:59.999999999Z"},
		{"path", &pb.OccurredAtPath{Id: "a"}, ""},
		{"other member", &pb.OccurredAtPath{Id: "a", Source: &pb.OccurredAtPath_Source{Time: &pb.OccurredAtPath_Source_Unknown{}}}, ""},
		{"member", &pb.OccurredAtPath{Id: "a", Source: &pb.OccurredAtPath_Source{Time: &pb.OccurredAtPath_Source_At{At: &timestamppb.Timestamp{}}}}, "1970-01-01T00:00:00.000Z"},
	} {
		headers, err := c.message.IdemHeaders(idem.Context{})
		require.NoError(t, err, c.name)
		got := ""
		for _, h := range headers {
			if h.Name == "occurred_at" {
				got = string(h.Value)
			}
		}
		require.Equal(t, c.want, got, c.name)
	}
	_, err := (&pb.OccurredAtText{Id: "a", At: "yesterday"}).IdemHeaders(idem.Context{})
	require.Equal(t, "TIMESTAMP_SYNTAX at", problemOf(err))
}

// CONF-042: the order of faults.
func TestOrderOfFaults(t *testing.T) {
	t.Parallel()
	m := &pb.Faults{Key2: "?", Content: "?", At: &timestamppb.Timestamp{Nanos: -1}}
	for _, step := range []struct {
		want string
		mend func()
	}{
		{"KEY_COMPONENT_MISSING key", func() { m.Key = "?" }},
		{"DECIMAL_SYNTAX key", func() { m.Key = "1" }},
		{"UUID_SYNTAX key2", func() { m.Key2 = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" }},
		{"KEY_COMPONENT_MISSING previous", func() { m.Previous = "p" }},
		{"KEY_EMPTY ", func() { m.Biz = "b" }},
		{"TIMESTAMP_SYNTAX content", func() { m.Content = "2025-01-01T00:00:00Z" }},
		{"TIMESTAMP_RANGE at", func() { m.At = nil }},
	} {
		_, err := m.IdemHeaders(idem.Context{})
		require.Equal(t, step.want, problemOf(err))
		step.mend()
	}
	_, err := m.IdemHeaders(idem.Context{})
	require.NoError(t, err)
}
