package observe_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/idem-spec/idem/runtime/go/observe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write METRICS.md anew")

// TestMetricsAreDocumented compares METRICS.md with Info. go test ./runtime/go/observe -update writes it.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Metrics

What the Go runtime measures, under the names that Prometheus and OpenTelemetry get. The table is generated from
` + "`observe.Metric.Info`: `go test ./runtime/go/observe -update`" + `.

- ` + "`group`" + ` is the consumer's scope, which is its consumer group unless it says otherwise.
- ` + "`event_type`" + ` has at most 200 values a group (a setting of the exporters); further ones, and names that are none, are ` + "`other`" + `.
- ` + "`outcome`" + ` is an outcome of spec chapter 7, ` + "`SKIPPED`, or `SHADOW_` and an outcome" + `.
- ` + "`store`" + ` is the store's name: memory, sqlite, postgres, redis, tiered; of ` + "`idem worker`" + ` its name in the context.

Gauges of tables (dead letters, retries, outbox) are read from the database by each process that asks: take the
maximum over instances, not the sum. Alert rules and a dashboard are in ` + "`deploy/`" + `.

| metric | kind | unit | labels | meaning |
| --- | --- | --- | --- | --- |
`)
	for _, m := range observe.Metrics() {
		info := m.Info()
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", info.Name, info.Kind, info.Unit, strings.Join(info.Labels, ", "), info.Help)
	}
	if *update {
		require.NoError(t, os.WriteFile("METRICS.md", []byte(b.String()), 0o644))
	}
	text, err := os.ReadFile("METRICS.md")
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(text), "go test ./runtime/go/observe -update writes it anew")
}

// TestMetricsAreNamedAsTheirConstantsSay reads the names from the comments in metric.go, which is where
// programmers look.
func TestMetricsAreNamedAsTheirConstantsSay(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("metric.go")
	require.NoError(t, err)
	comments := regexp.MustCompile(`(?m)^\t\w+ .*// (idem_\w+)$`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, comments, len(observe.Metrics()))
	for i, m := range observe.Metrics() {
		assert.Equal(t, comments[i][1], m.String())
	}
}

func TestNamesFollowTheRulesOfPrometheus(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, m := range observe.Metrics() {
		info := m.Info()
		assert.False(t, seen[info.Name], info.Name)
		seen[info.Name] = true
		assert.Regexp(t, `^idem_[a-z_]+$`, info.Name)
		assert.Equal(t, info.Kind == observe.Counter, strings.HasSuffix(info.Name, "_total"), info.Name)
		assert.Equal(t, info.Unit == "s", strings.HasSuffix(info.Name, "_seconds"), info.Name)
		assert.Regexp(t, `^[A-Z0-9].*\.$`, info.Help)
		for _, name := range info.Labels {
			only := m.Only(observe.Labels{Scope: "x", EventType: "x", Topic: "x", Outcome: "x", Store: "x", Partition: 1})
			assert.Contains(t, []string{"x", "1"}, only.Value(name), "%s of %s", name, info.Name)
		}
	}
	assert.Equal(t, "unknown", observe.Metric(255).String())
	assert.Equal(t, "unknown", observe.Kind(9).String())
}

type recorder struct {
	told  []string
	panic bool
}

func (r *recorder) note(what string) {
	r.told = append(r.told, what)
	if r.panic {
		panic("observer")
	}
}
func (r *recorder) Delivery(_ context.Context, d *observe.Delivery) { r.note(d.Key) }
func (r *recorder) Measure(m observe.Metric, _ observe.Labels, _ float64) {
	r.note(m.String())
}
func (r *recorder) Batch(_ context.Context, b *observe.Batch) { r.note(b.Step) }

func TestObserverThatPanicsChangesNothingAndKeepsNobodyFromHearing(t *testing.T) {
	t.Parallel()
	angry, calm := &recorder{panic: true}, &recorder{}
	o := observe.Multi(nil, angry, observe.Multi(observe.None{}, calm))
	o.Delivery(t.Context(), &observe.Delivery{Key: "k"})
	o.Measure(observe.InFlight, observe.Labels{}, 1)
	observe.TellBatch(t.Context(), o, &observe.Batch{Step: "claim"})
	observe.TellBatch(t.Context(), observe.None{}, &observe.Batch{Step: "claim"})
	want := []string{"k", "idem_messages_in_flight", "claim"}
	assert.Equal(t, want, angry.told)
	assert.Equal(t, want, calm.told)
	assert.Equal(t, observe.None{}, observe.Multi(nil, observe.None{}))
	assert.Equal(t, observe.None{}, observe.Safe(nil))
	assert.Equal(t, observe.Safe(calm), observe.Safe(observe.Safe(calm)))
}

func TestHealth(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		check  func() error
		status int
		body   string
	}{
		"well":  {func() error { return nil }, 200, `{"status":"ok"}`},
		"ill":   {func() error { return errors.New("no generation for 2m") }, 503, `{"status":"unhealthy","error":"no generation for 2m"}`},
		"angry": {func() error { panic("x") }, 503, `{"status":"unhealthy","error":"the health check panicked"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			observe.HealthHandler(c.check).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
			assert.Equal(t, c.status, w.Code)
			assert.JSONEq(t, c.body, w.Body.String())
			w = httptest.NewRecorder()
			observe.HealthHandler(c.check).ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/healthz", nil))
			assert.Equal(t, c.status, w.Code)
			assert.Empty(t, w.Body.String())
		})
	}
}
