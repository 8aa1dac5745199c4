package observe_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// expression is a PromQL expression of deploy/, and where it stands.
type expression struct{ where, text string }

func alertExpressions(t *testing.T) []expression {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/prometheus/idem-alerts.yml")
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&file))
	var all []expression
	seen := map[string]bool{}
	for _, group := range file.Groups {
		require.NotEmpty(t, group.Name)
		for _, rule := range group.Rules {
			assert.Regexp(t, `^Idem[A-Za-z]+$`, rule.Alert)
			assert.False(t, seen[rule.Alert], rule.Alert)
			seen[rule.Alert] = true
			assert.Contains(t, []string{"warning", "critical"}, rule.Labels["severity"], rule.Alert)
			assert.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			assert.NotEmpty(t, rule.Annotations["description"], rule.Alert)
			if rule.For != "" {
				assert.Regexp(t, `^\d+[smh]$`, rule.For, rule.Alert)
			}
			for _, label := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(rule.Annotations["summary"], -1) {
				assert.Contains(t, rule.Expr, label[1], "%s: its summary has a label that the expression drops", rule.Alert)
			}
			all = append(all, expression{rule.Alert, rule.Expr})
		}
	}
	return all
}

func dashboardExpressions(t *testing.T) []expression {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/grafana/idem-dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			ID          int
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	var all []expression
	ids := map[int]bool{}
	for _, panel := range dashboard.Panels {
		assert.False(t, ids[panel.ID], panel.Title)
		ids[panel.ID] = true
		assert.NotEmpty(t, panel.Title)
		for _, target := range panel.Targets {
			all = append(all, expression{panel.Title, target.Expr})
		}
	}
	return all
}

var (
	metricName = regexp.MustCompile(`\bidem_\w+`)
	byClause   = regexp.MustCompile(`\bby \(([^)]*)\)`)
	matcher    = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
)

// TestEveryMetricOfDeployExistsWithItsLabels reads the names and labels in the expressions.
func TestEveryMetricOfDeployExistsWithItsLabels(t *testing.T) {
	t.Parallel()
	known := map[string]observe.Info{}
	for _, m := range observe.Metrics() {
		info := m.Info()
		known[info.Name] = info
		if info.Kind == observe.Histogram {
			known[info.Name+"_bucket"] = info
		}
	}
	used := map[string]bool{}
	for _, e := range append(alertExpressions(t), dashboardExpressions(t)...) {
		names := metricName.FindAllString(e.text, -1)
		assert.NotEmpty(t, names, e.where)
		for _, name := range names {
			info, ok := known[name]
			require.True(t, ok, "%s: there is no metric %s", e.where, name)
			used[info.Name] = true
			labels := append([]string{"le"}, info.Labels...)
			for _, clause := range byClause.FindAllStringSubmatch(e.text, -1) {
				for label := range strings.SplitSeq(clause[1], ", ") {
					assert.Contains(t, labels, label, "%s: %s has no such label", e.where, name)
				}
			}
			for _, m := range matcher.FindAllStringSubmatch(e.text, -1) {
				assert.Contains(t, labels, m[1], "%s: %s has no such label", e.where, name)
			}
			if info.Kind == observe.Counter {
				assert.Regexp(t, `(rate|increase)\(`+name, e.text, "%s: a counter is read by its growth", e.where)
			}
		}
		assert.Equal(t, strings.Count(e.text, "("), strings.Count(e.text, ")"), e.where)
		assert.Equal(t, strings.Count(e.text, "{"), strings.Count(e.text, "}"), e.where)
	}
	for _, m := range observe.Metrics() {
		assert.True(t, used[m.String()], "%s is in no alert and on no dashboard", m)
	}
}

// TestAlertsCoverWhatNeedsSomebody lists what has to raise an alert.
func TestAlertsCoverWhatNeedsSomebody(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, e := range alertExpressions(t) {
		text.WriteString(e.text + "\n")
	}
	for _, m := range []observe.Metric{
		observe.DeadLetters, observe.DeadLetterOldest, observe.ConsumerLag, observe.ConsumerLagGrowth, observe.ConsumerOldest,
		observe.RouteOpen, observe.OutboxFailed, observe.OutboxOldest, observe.RetryOldestDue, observe.StoreDegraded,
	} {
		assert.Regexp(t, `\b`+m.String()+`\b`, text.String())
	}
}
