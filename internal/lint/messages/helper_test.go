package messages

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages/input"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
)

// now is the time of the tests.
var now = time.Date(2025, 1, 1, 4, 0, 0, 0, time.UTC)

// shop is the schema of the tests: one message with everything.
const shop = `syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import "idem/v1/options.proto";
message PaymentSucceeded {
  option (idem.v1.message) = {
    idempotency_key: "pay:v2:{payment_id}"
    idempotency_key_previous: "pay:v1:{card}"
    biz_key: "{order_id}"
    fingerprint: "{amount}"
    occurred_at: "{paid_at}"
    retry: {max_retry: 2 max_hold: 3 backoff_schedule_ms: [1000, 60000]}
    transition: {state_machine: "shop.v1.OrderState" from: "PAYING" to: "PAID"}
  };
  string payment_id = 1;
  string order_id = 2 [(idem.v1.field).missing = MISSING_ALLOW];
  string amount = 3 [(idem.v1.field) = {decimal: {max_scale: 2} missing: MISSING_ALLOW}];
  google.protobuf.Timestamp paid_at = 4;
  string card = 5 [debug_redact = true, (idem.v1.field) = {digest: DIGEST_SHA256 missing: MISSING_ALLOW}];
  int64 cents = 6;
  string secret_amount = 7 [debug_redact = true, (idem.v1.field).decimal = {}];
  Method method = 8;
}
message Plain {
  option (idem.v1.message).idempotency_key = "plain:{id}";
  string id = 1;
}
enum Method { METHOD_UNSPECIFIED = 0; METHOD_CARD = 1; }
enum OrderState {
  option (idem.v1.state_machine) = {transition: {from: "PAYING" to: "PAID"} transition: {from: "" to: "PAYING"}};
  ORDER_STATE_UNSPECIFIED = 0;
  ORDER_STATE_PAYING = 1;
  ORDER_STATE_PAID = 2;
}
enum PayError {
  PAY_ERROR_UNSPECIFIED = 0;
  PAY_ERROR_BUSY = 1 [(idem.v1.error).outcome = OUTCOME_THROTTLED];
}
`

func setOf(t testing.TB, text string) *schema.Set {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.proto"), []byte(text), 0o600))
	files, err := source.Read(t.Context(), dir)
	require.NoError(t, err)
	set, problems := schema.Build(files.All, files.Paths)
	require.Empty(t, problems)
	return set
}

// checked runs all rules over lines, and returns the findings and the summary.
func checked(t testing.TB, set *schema.Set, lines string, change func(*Options)) ([]lint.Finding, Summary) {
	t.Helper()
	var findings []lint.Finding
	o := Options{
		Set: set, MaxPayload: DefaultMaxPayload, Memory: DefaultMemory, TempDir: t.TempDir(), Now: func() time.Time { return now },
		Wanted: func(*lint.Rule) bool { return true },
		Report: func(_ uint64, f lint.Finding) error { findings = append(findings, f); return nil },
	}
	if change != nil {
		change(&o)
	}
	reader, err := input.Files([]string{"-"}, strings.NewReader(lines), input.Options{MaxMessage: 1 << 20})
	require.NoError(t, err)
	summary, err := Run(t.Context(), reader, o)
	require.NoError(t, err)
	left, err := os.ReadDir(o.TempDir)
	require.True(t, err != nil && errors.Is(err, os.ErrNotExist) || len(left) == 0, "a file was left behind")
	return findings, summary
}

// of are the findings of a rule, as "line: what".
func of(findings []lint.Finding, rule string) []string {
	var all []string
	for _, f := range findings {
		if f.Rule.ID == rule {
			all = append(all, f.What)
		}
	}
	return all
}
