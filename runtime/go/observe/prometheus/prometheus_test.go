package prometheus_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/observe"
	idemprometheus "github.com/idem-spec/idem/runtime/go/observe/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func collector(t testing.TB, c idemprometheus.Config) *idemprometheus.Collector {
	t.Helper()
	made, err := idemprometheus.New(c)
	require.NoError(t, err)
	return made
}

func TestDeliveriesBecomeCountersAndAHistogram(t *testing.T) {
	t.Parallel()
	c := collector(t, idemprometheus.Config{Buckets: []float64{.001, .1}, Constant: map[string]string{"service": "payments"}})
	ctx := context.Background()
	for range 3 {
		c.Delivery(ctx, &observe.Delivery{Scope: "payments", EventType: "orders.paid", Outcome: idem.OutcomeOK, Handler: 500 * time.Microsecond})
	}
	c.Delivery(ctx, &observe.Delivery{Scope: "payments", EventType: "orders.paid", Outcome: idem.OutcomeRetryable, Handler: 250 * time.Millisecond})
	c.Delivery(ctx, &observe.Delivery{Scope: "payments", EventType: "orders.paid", Outcome: idem.OutcomeDuplicate, Superseded: true})
	c.Delivery(ctx, &observe.Delivery{Scope: "payments", EventType: "orders.paid", Skipped: true})
	c.Delivery(ctx, &observe.Delivery{Scope: "payments", EventType: "orders.paid", Outcome: idem.OutcomeOK, Shadow: true})
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP idem_handler_seconds Time in the handler, of deliveries for which it ran.
# TYPE idem_handler_seconds histogram
idem_handler_seconds_bucket{event_type="orders.paid",group="payments",service="payments",le="0.001"} 3
idem_handler_seconds_bucket{event_type="orders.paid",group="payments",service="payments",le="0.1"} 3
idem_handler_seconds_bucket{event_type="orders.paid",group="payments",service="payments",le="+Inf"} 4
idem_handler_seconds_sum{event_type="orders.paid",group="payments",service="payments"} 0.2515
idem_handler_seconds_count{event_type="orders.paid",group="payments",service="payments"} 4
# HELP idem_messages_total Deliveries that ended, by outcome; SKIPPED are those for other scopes and of ignored event types, SHADOW_… those of shadow mode.
# TYPE idem_messages_total counter
idem_messages_total{event_type="orders.paid",group="payments",outcome="DUPLICATE",service="payments"} 1
idem_messages_total{event_type="orders.paid",group="payments",outcome="OK",service="payments"} 3
idem_messages_total{event_type="orders.paid",group="payments",outcome="RETRYABLE",service="payments"} 1
idem_messages_total{event_type="orders.paid",group="payments",outcome="SHADOW_OK",service="payments"} 1
idem_messages_total{event_type="orders.paid",group="payments",outcome="SKIPPED",service="payments"} 1
# HELP idem_superseded_total Messages whose transition another key had made.
# TYPE idem_superseded_total counter
idem_superseded_total{event_type="orders.paid",group="payments",service="payments"} 1
`)))
}

func TestEveryMetricIsExportedUnderItsNameKindAndLabels(t *testing.T) {
	t.Parallel()
	c := collector(t, idemprometheus.Config{})
	labels := observe.Labels{Scope: "g", EventType: "e", Topic: "t", Outcome: "OK", Store: "s", Partition: 3}
	c.Delivery(context.Background(), &observe.Delivery{Scope: "g", EventType: "e", Outcome: idem.OutcomeOK, Handler: 1, Superseded: true})
	for _, m := range observe.Metrics() {
		c.Measure(m, labels, 2)
	}
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	families, err := registry.Gather()
	require.NoError(t, err)
	byName := map[string]string{}
	for _, f := range families {
		require.Len(t, f.GetMetric(), 1, f.GetName())
		var names []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			names = append(names, l.GetName())
			want := map[string]string{"group": "g", "event_type": "e", "topic": "t", "outcome": "OK", "store": "s", "partition": "3"}[l.GetName()]
			assert.Equal(t, want, l.GetValue(), f.GetName())
		}
		byName[f.GetName()] = f.GetType().String() + " " + strings.Join(names, ",")
	}
	for _, m := range observe.Metrics() {
		info := m.Info()
		sorted := map[string]string{
			"group,event_type,outcome": "event_type,group,outcome", "group,event_type": "event_type,group",
			"group,topic,partition": "group,partition,topic",
		}
		labels := strings.Join(info.Labels, ",")
		if s, ok := sorted[labels]; ok {
			labels = s
		}
		assert.Equal(t, strings.ToUpper(info.Kind.String())+" "+labels, byName[info.Name], info.Name)
	}
	assert.Len(t, byName, len(observe.Metrics()))
}

func TestEventTypesBeyondTheBoundAreOther(t *testing.T) {
	t.Parallel()
	c := collector(t, idemprometheus.Config{EventTypes: 3})
	for i := range 1000 {
		c.Delivery(context.Background(), &observe.Delivery{Scope: "g", EventType: fmt.Sprintf("e%d", i), Outcome: idem.OutcomeOK})
	}
	c.Delivery(context.Background(), &observe.Delivery{Scope: "h", EventType: "\xff\n", Outcome: idem.OutcomeMalformed})
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP idem_messages_total Deliveries that ended, by outcome; SKIPPED are those for other scopes and of ignored event types, SHADOW_… those of shadow mode.
# TYPE idem_messages_total counter
idem_messages_total{event_type="e0",group="g",outcome="OK"} 1
idem_messages_total{event_type="e1",group="g",outcome="OK"} 1
idem_messages_total{event_type="e2",group="g",outcome="OK"} 1
idem_messages_total{event_type="other",group="g",outcome="OK"} 997
idem_messages_total{event_type="other",group="h",outcome="MALFORMED"} 1
`), "idem_messages_total"))
}

func TestGaugeOfAPartitionThatWasGivenBackIsGone(t *testing.T) {
	t.Parallel()
	c := collector(t, idemprometheus.Config{})
	for p := range int32(2) {
		c.Measure(observe.ConsumerLag, observe.Labels{Scope: "g", Topic: "t", Partition: p, Store: "not a label of it"}, 7)
	}
	c.Measure(observe.ConsumerLag, observe.Labels{Scope: "g", Topic: "t", Partition: 0}, math.NaN())
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP idem_consumer_lag Messages of a partition that are not committed yet.
# TYPE idem_consumer_lag gauge
idem_consumer_lag{group="g",partition="1",topic="t"} 7
`)))
}

func TestCountersNeverFallAndTakeNothingThatIsNoNumber(t *testing.T) {
	t.Parallel()
	c := collector(t, idemprometheus.Config{})
	for _, v := range []float64{2, -1, math.NaN(), math.Inf(1), 3} {
		c.Measure(observe.StoreErrors, observe.Labels{Store: "postgres"}, v)
	}
	c.Measure(observe.Metric(200), observe.Labels{}, 1)
	c.Measure(observe.Messages, observe.Labels{Scope: "g"}, 1) // Delivery brings it
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP idem_store_errors_total Calls of a store that failed.
# TYPE idem_store_errors_total counter
idem_store_errors_total{store="postgres"} 5
`)))
}

func TestHandlerServesText(t *testing.T) {
	t.Parallel()
	c := collector(t, idemprometheus.Config{})
	c.Measure(observe.DeadLetters, observe.Labels{Scope: "payments", EventType: "orders.paid"}, 2)
	server := httptest.NewServer(c.Handler())
	t.Cleanup(server.Close)
	response, err := http.Get(server.URL)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, response.Body.Close())
	require.NoError(t, err)
	assert.Contains(t, string(body), `idem_dead_letters{event_type="orders.paid",group="payments"} 2`)
}

func TestCountsFromManyGoroutinesAreAllThere(t *testing.T) {
	t.Parallel()
	c := collector(t, idemprometheus.Config{})
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 500 {
				c.Delivery(context.Background(), &observe.Delivery{Scope: "g", EventType: fmt.Sprintf("e%d", (i+g)%7), Outcome: idem.OutcomeOK})
				c.Measure(observe.OutboxSent, observe.Labels{Topic: fmt.Sprintf("t%d", i%3)}, 1)
			}
		})
	}
	all.Wait()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		sum := 0.0
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue()
		}
		assert.EqualValues(t, 4000, sum, f.GetName())
	}
	assert.Len(t, families, 2)
}

func TestWrongConfigIsNamed(t *testing.T) {
	t.Parallel()
	_, err := idemprometheus.New(idemprometheus.Config{EventTypes: -1})
	require.ErrorContains(t, err, "EventTypes is -1")
	_, err = idemprometheus.New(idemprometheus.Config{Buckets: []float64{1, 1}})
	require.ErrorContains(t, err, "Buckets has 1 at 1")
}

func TestDeliveryAllocatesNothing(t *testing.T) {
	c := collector(t, idemprometheus.Config{})
	d := delivery()
	ctx := context.Background()
	labels := observe.Labels{Scope: "payments"}
	allocations := testing.AllocsPerRun(1000, func() {
		c.Delivery(ctx, d)
		c.Measure(observe.InFlight, labels, 3)
	})
	assert.Zero(t, allocations)
}

func delivery() *observe.Delivery {
	return &observe.Delivery{
		Scope: "payments", EventType: "orders.payment_success", Key: "orders.payment_success:v1:8317", Topic: "orders", Partition: 3, Offset: 99,
		Outcome: idem.OutcomeOK, Action: idem.ActionAck, Attempts: 1, Handler: 3 * time.Millisecond, Total: 5 * time.Millisecond,
	}
}

func BenchmarkDelivery(b *testing.B) {
	c := collector(b, idemprometheus.Config{})
	for i := range 50 {
		c.Delivery(context.Background(), &observe.Delivery{Scope: "payments", EventType: fmt.Sprintf("other%d", i)})
	}
	d, ctx := delivery(), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		c.Delivery(ctx, d)
	}
}

func BenchmarkMeasure(b *testing.B) {
	c := collector(b, idemprometheus.Config{})
	labels := observe.Labels{Scope: "payments", Topic: "orders", Partition: 7}
	b.ReportAllocs()
	for b.Loop() {
		c.Measure(observe.ConsumerLag, labels, 3)
	}
}
