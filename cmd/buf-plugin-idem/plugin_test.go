package main

import (
	"slices"
	"strings"
	"testing"

	"buf.build/go/bufplugin/check"
	"buf.build/go/bufplugin/check/checktest"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
	optionsproto "github.com/idem-spec/idem/proto/idem/v1"
)

func TestSpecIsOneThatBufTakes(t *testing.T) {
	t.Parallel()
	checktest.SpecTest(t, spec())
}

func TestEveryRuleOfSchemasAndChangesIsThere(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, r := range catalog.Rules() {
		if r.Kind != lint.Message && r.ID != ofBaselines {
			want = append(want, r.ID)
		}
	}
	for _, r := range spec().Rules {
		require.True(t, r.Default, r.ID)
		require.Len(t, r.CategoryIDs, 2, r.ID)
		got = append(got, r.ID)
	}
	require.ElementsMatch(t, want, got)
}

const paid = `syntax = "proto3";
package shop.v1;
import "idem/v1/options.proto";
message Paid {
  option (idem.v1.message).idempotency_key = "payments.paid:{payment_id}";
  string payment_id = 1;
}
`

// request is one about a file, and about the one before it unless that is empty.
func request(t *testing.T, now, before string, options map[string]any, rules ...string) *checktest.RequestSpec {
	t.Helper()
	files := func(text string) *checktest.ProtoFileSpec {
		dir := t.TempDir()
		write(t, dir, "paid.proto", []byte(text))
		write(t, dir, optionsproto.Path, optionsproto.Options)
		return &checktest.ProtoFileSpec{DirPaths: []string{dir}, FilePaths: []string{"paid.proto"}}
	}
	r := &checktest.RequestSpec{Files: files(now), Options: options, RuleIDs: rules}
	if before != "" {
		r.AgainstFiles = files(before)
	}
	return r
}

func TestFindingOfASchemaSaysWhereAndHowToMendIt(t *testing.T) {
	t.Parallel()
	checktest.CheckTest{
		Spec:    spec(),
		Request: request(t, paid, "", nil),
		ExpectedAnnotations: []checktest.ExpectedAnnotation{{
			RuleID:       "IDEM_KEY_VERSION_MISSING",
			Message:      "the key of shop.v1.Paid has no version segment, so that no later template can be told from this one: write v1 behind the event type, as in payments.paid:v1:…",
			FileLocation: &checktest.ExpectedFileLocation{FileName: "paid.proto", StartLine: 4, StartColumn: 2, EndLine: 4, EndColumn: 74},
		}},
	}.Run(t)
}

func TestFindingOfAChangeSaysWhatWasBeforeAndWhere(t *testing.T) {
	t.Parallel()
	annotations := checked(t, request(t, strings.Replace(paid, "payments.paid:", "payments.settled:", 1), "\n\n"+paid, nil, "IDEM_EVENT_TYPE_CHANGED"))
	require.Len(t, annotations, 1)
	require.Contains(t, annotations[0].Message(), "\nbefore: payments.paid:")
	require.Contains(t, annotations[0].Message(), "\nafter: payments.settled:")
	require.Equal(t, 4, annotations[0].FileLocation().StartLine())
	require.Equal(t, 5, annotations[0].AgainstFileLocation().StartLine(), "the message")
}

func TestOnlyTheRulesThatAreAskedForRun(t *testing.T) {
	t.Parallel()
	require.Empty(t, checked(t, request(t, paid, "", nil, "IDEM_KEY_AMOUNT")))
	require.Empty(t, checked(t, request(t, paid, strings.Replace(paid, "payments.paid", "payments.settled", 1), nil, "IDEM_KEY_PREVIOUS_MISSING")))
}

func TestCommentsOfIdemIgnoreAndAreThemselvesJudged(t *testing.T) {
	t.Parallel()
	ignoring := func(rule string) string {
		return strings.Replace(paid, "message", "// idem:ignore "+rule+" for the test\nmessage", 1)
	}
	require.Empty(t, checked(t, request(t, ignoring("IDEM_KEY_VERSION_MISSING"), "", nil)))
	require.Equal(t, []string{"IDEM_IGNORE_STALE", "IDEM_KEY_VERSION_MISSING"}, ids(checked(t, request(t, ignoring("IDEM_KEY_AMOUNT"), "", nil))))
	require.Equal(t, []string{"IDEM_KEY_VERSION_MISSING"}, ids(checked(t, request(t, ignoring("IDEM_KEY_AMOUNT"), "", nil, "IDEM_KEY_VERSION_MISSING", "IDEM_IGNORE_STALE"))),
		"whether what did not run would have found something is not known")
}

func TestOptionsAreFacts(t *testing.T) {
	t.Parallel()
	facts := map[string]any{"dedup_retention": "7d", "topic_retention": "7d"}
	versioned := strings.Replace(paid, "paid:", "paid:v1:", 1)
	require.Empty(t, checked(t, request(t, versioned, "", nil)))
	require.Equal(t, []string{"IDEM_DEDUP_RETENTION_SHORT"}, ids(checked(t, request(t, versioned, "", facts))))
	facts["events"] = []string{"payments.paid: {dedup_retention: 30d}"}
	require.Empty(t, checked(t, request(t, versioned, "", facts)))

	_, err := respond(t, request(t, versioned, "", map[string]any{"events": []string{"payments.payd: {consumers: 3}"}}))
	require.ErrorContains(t, err, `options of buf-plugin-idem: no message has the event type "payments.payd"; did you mean payments.paid?`)
	_, err = respond(t, request(t, versioned, "", map[string]any{"events": []string{"orders.shipped: {consumers: 3}"}}))
	require.NoError(t, err, "of another module")

	_, err = respond(t, request(t, versioned, "", map[string]any{"dedup_retension": "7d"}))
	require.ErrorContains(t, err, `options of buf-plugin-idem: there is no key "dedup_retension" here; did you mean dedup_retention?`)
}

func checked(t *testing.T, r *checktest.RequestSpec) []check.Annotation {
	t.Helper()
	response, err := respond(t, r)
	require.NoError(t, err)
	return response.Annotations()
}

func respond(t *testing.T, r *checktest.RequestSpec) (check.Response, error) {
	t.Helper()
	request, err := r.ToRequest(t.Context())
	require.NoError(t, err)
	client, err := check.NewClientForSpec(spec())
	require.NoError(t, err)
	return client.Check(t.Context(), request)
}

func ids(annotations []check.Annotation) []string {
	var all []string
	for _, a := range annotations {
		all = append(all, a.RuleID())
	}
	slices.Sort(all)
	return all
}
