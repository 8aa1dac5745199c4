package golden_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	edition2024v1 "github.com/idem-spec/idem/golden/go/idem/conformance/edition2024/v1"
	pb "github.com/idem-spec/idem/golden/go/idem/conformance/v1"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// RETRY-001.
func TestPolicies(t *testing.T) {
	t.Parallel()
	require.Equal(t, idem.DefaultPolicy(), (*pb.RetryDefaults)(nil).IdemPolicy())
	require.Equal(t, idem.Policy{BackoffBase: 1, BackoffMax: 1}, new(pb.RetryLeast).IdemPolicy())
	require.Equal(t, idem.Policy{
		MaxRetry: 3, MaxHold: 20, BackoffBase: 1, BackoffJitter: 500, BackoffMax: 300, BackoffSchedule: []int32{10000, 30000, 604800000},
	}, new(pb.RetrySchedule).IdemPolicy())
	for _, policy := range []idem.Policy{new(pb.RetryMost).IdemPolicy(), new(pb.RetryScheduleZero).IdemPolicy(), new(pb.Everything).IdemPolicy()} {
		require.NoError(t, policy.Check())
	}
}

// STATE-003, STATE-004: the table that the plugin works out says what the machine says at run time.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	type transition interface {
		IdemTransition() idem.Transition
		IdemVerdict(current string) (idem.Verdict, error)
	}
	machines := map[string]*idem.Machine{
		"idem.conformance.v1.InvoiceState":    pb.InvoiceState(0).IdemMachine(),
		"idem.conformance.v1.TicketHTTPState": pb.TicketHTTPState(0).IdemMachine(),
		"idem.conformance.v1.OrderState":      pb.OrderState(0).IdemMachine(),
		"idem.conformance.v1.Job.State":       pb.Job_State(0).IdemMachine(),
	}
	states := []string{"", "UNSPECIFIED", "CREATED", "PAYING", "PAID", "REFUNDED", "CANCELLED", "ON_HOLD", "new", "imported.v2", "OPEN", "REOPENED", "DONE", "QUEUED", "RUNNING", "paid"}
	for _, m := range []transition{
		new(pb.Everything), new(pb.InvoicePaid), new(pb.InvoiceCancelled), new(pb.TicketCreated), new(pb.TicketOpened), new(pb.Job), new(pb.PaymentSucceeded),
	} {
		tr := m.IdemTransition()
		require.Contains(t, machines, tr.Machine)
		for _, current := range states {
			want, wantErr := machines[tr.Machine].Verdict(current, tr.From, tr.To)
			got, err := m.IdemVerdict(current)
			require.Equal(t, want, got, "%T %q", m, current)
			require.Equal(t, wantErr, err, "%T %q", m, current)
		}
	}
	verdict, err := new(pb.InvoicePaid).IdemVerdict("CANCELLED")
	require.NoError(t, err)
	require.Equal(t, idem.VerdictConflict, verdict)
	require.True(t, new(pb.TicketCreated).IdemTransition().DeadLetterSuperseded)
	require.False(t, new(pb.InvoiceCancelled).IdemTransition().DeadLetterSuperseded)
}

// OPT-040, OPT-041.
func TestStates(t *testing.T) {
	t.Parallel()
	for value, text := range map[pb.TicketHTTPState]string{
		pb.TicketHTTPState_TICKET_HTTP_STATE_UNSPECIFIED: "UNSPECIFIED",
		pb.TicketHTTPState_TICKET_HTTP_STATE_NEW:         "new",
		pb.TicketHTTPState_TICKET_HTTP_STATE_IMPORTED:    "imported.v2",
		pb.TicketHTTPState_TICKET_HTTP_STATE_REOPENED:    "OPEN",
		pb.TicketHTTPState_DONE:                          "DONE",
	} {
		got, ok := value.IdemState()
		require.True(t, ok)
		require.Equal(t, text, got)
		back, ok := pb.IdemParseTicketHTTPState(text)
		require.True(t, ok)
		require.Equal(t, value, back)
	}
	_, ok := pb.TicketHTTPState(99).IdemState()
	require.False(t, ok)
	_, ok = pb.IdemParseTicketHTTPState("REOPENED")
	require.False(t, ok)
	require.Equal(t, []idem.Edge{{From: "", To: "None"}, {From: "None", To: "class"}}, pb.Mood(0).IdemEdges())
	require.Same(t, pb.Mood(0).IdemMachine(), pb.Mood(1).IdemMachine())
}

// OPT-043.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for value, want := range map[pb.PaymentError]idem.Outcome{
		pb.PaymentError_PAYMENT_ERROR_UNSPECIFIED: idem.OutcomeRetryable,
		pb.PaymentError_PAYMENT_ERROR_BUSY:        idem.OutcomeThrottled,
		pb.PaymentError_PAYMENT_ERROR_DECLINED:    idem.OutcomeNonRetryable,
		pb.PaymentError_PAYMENT_ERROR_TIMEOUT:     idem.OutcomeRetryable,
		pb.PaymentError_PAYMENT_ERROR_PAID_BEFORE: idem.OutcomeDuplicate,
		pb.PaymentError_PAYMENT_ERROR_TOO_EARLY:   idem.OutcomeOutOfOrder,
		pb.PaymentError_PAYMENT_ERROR_NONE:        idem.OutcomeOK,
		pb.PaymentError_PAYMENT_ERROR_LOST:        idem.OutcomeRetryable,
		pb.PaymentError(1234):                     idem.OutcomeRetryable,
	} {
		require.Equal(t, want, value.IdemClassify(), value)
	}
	require.Equal(t, idem.OutcomeNonRetryable, edition2024v1.Fault_FAULT_DARK.IdemClassify())
}
