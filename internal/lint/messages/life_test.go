package messages

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// TestDeliveriesOfTheCoreAreClean has messages live as the core decides, by outcomes of chance: whatever
// retries, holds, deferrals, dead letters and redrives write, is no finding. Only deferrals after a retry
// keep its reason, which the rule's page says.
func TestDeliveriesOfTheCoreAreClean(t *testing.T) {
	t.Parallel()
	set := setOf(t, shop)
	random := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for i := range 300 {
		id := fmt.Sprintf("p-%d", i)
		headers := idem.Headers{
			{Name: "idempotency_key", Value: []byte("pay:v2:" + id)}, {Name: "event_id", Value: []byte("e-" + id)},
			{Name: "event_type", Value: []byte("pay")}, {Name: "biz_key", Value: []byte("o")}, {Name: "topic", Value: []byte("payments")},
			{Name: "produced_at", Value: []byte("2025-01-01T03:00:00.000Z")}, {Name: "expected_current_state", Value: []byte("PAYING")},
			{Name: "idempotency_key_previous", Value: []byte("pay:v1:e3b0c44298fc1c149afbf4c8996fb924")}, {Name: "fingerprint", Value: fingerprintOf(t, id)},
			{Name: "idem_spec", Value: []byte("1")}, {Name: "max_retry", Value: []byte("2")}, {Name: "max_hold", Value: []byte("3")},
			{Name: "backoff_jitter", Value: []byte("1000")}, {Name: "backoff_schedule", Value: []byte("1000,60000")},
		}
		for range 12 {
			lines = append(lines, lineOf(t, headers, id))
			next := after(t, random, headers)
			if next == nil {
				break
			}
			headers = next
		}
	}
	findings, summary := checked(t, set, strings.Join(lines, "\n"), nil)
	require.Empty(t, findings[:min(len(findings), 3)])
	require.EqualValues(t, 300, summary.Keys)
	require.Greater(t, summary.Duplicates, int64(300))
}

// after is the headers of the next delivery; nil where there is none.
func after(t *testing.T, random *rand.Rand, headers idem.Headers) idem.Headers {
	t.Helper()
	e, err := idem.ParseHeaders(idem.Kafka, headers)
	require.NoError(t, err)
	policy, err := idem.ResolvePolicy(e.Policy(), idem.DefaultPolicy(), idem.PartialPolicy{})
	require.NoError(t, err)
	outcomes := []idem.Outcome{idem.OutcomeOK, idem.OutcomeRetryable, idem.OutcomeThrottled, idem.OutcomeOutOfOrder, idem.OutcomeNonRetryable}
	if !e.Present.Has(idem.RejectReason) { // a deferral keeps the reason of what was before
		outcomes = append(outcomes, idem.OutcomeInProgress)
	}
	result := idem.Result{Outcome: outcomes[random.IntN(len(outcomes))], AfterMs: random.Int64N(100_000)}
	d, err := idem.Decide(result, e.IdempotencyKey, idem.Counts{Retry: e.RetryCount, Hold: e.HoldCount}, &policy)
	require.NoError(t, err)
	if d.Action == idem.ActionAck {
		return nil
	}
	n := d.Next("scope", "payments", now.UnixMilli())
	if d.Action == idem.ActionDeadLetter && random.IntN(2) == 0 {
		n = idem.Next{Action: idem.ActionRedrive, Scope: "scope", Topic: "payments", NowMs: now.UnixMilli()}
	}
	next, err := idem.AppendNext(nil, idem.Kafka, headers, &n)
	require.NoError(t, err)
	return next
}

func fingerprintOf(t *testing.T, amount string) []byte {
	t.Helper()
	// The amount is the number in the id.
	text := strings.TrimPrefix(amount, "p-")
	b, err := idem.FinishFingerprint([]byte(text), 0, idem.TemplateHash("{amount}"))
	require.NoError(t, err)
	return b
}

func lineOf(t *testing.T, headers idem.Headers, id string) string {
	t.Helper()
	var pairs []string
	for _, h := range headers {
		pairs = append(pairs, h.Name, string(h.Value))
	}
	text, err := json.Marshal(map[string]any{
		"headers": pairs, "key": "o",
		"value": map[string]string{"payment_id": id, "order_id": "o", "amount": strings.TrimPrefix(id, "p-")},
	})
	require.NoError(t, err)
	return string(text)
}
