package deadletter_test

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// Look first, then redrive: here messages that were refused for a missing rate.
func ExampleRedriver() {
	ctx := context.Background()
	tables := memory.New(memory.Config{}) // or a database's
	_, err := tables.Settle(ctx, []store.Settlement{{State: idem.StateDead, DeadLetter: &store.DeadLetter{
		Scope: "payments", SourceTopic: "orders", Topic: "orders", Reason: "NO_RATE: EUR", Outcome: idem.OutcomeNonRetryable,
		Headers: idem.Headers{{Name: "idempotency_key", Value: []byte("order-8317")}}, Payload: []byte("…"),
	}}})
	if err != nil {
		panic(err)
	}

	redriver, err := deadletter.New(tables, tables, deadletter.Config{Rate: 50})
	if err != nil {
		panic(err)
	}
	filter := store.DeadLetterFilter{Scope: "payments", ReasonPrefix: "NO_RATE"}
	plan, err := redriver.Plan(ctx, filter, 5)
	fmt.Println(plan.Count, plan.Sample[0].Reason, err)

	report, err := redriver.Run(ctx, filter)
	fmt.Println(report.Redriven, err)
	// Output:
	// 1 NO_RATE: EUR <nil>
	// 1 <nil>
}

// Dead letters that went to a topic.
func ExampleFromTopic() {
	ctx := context.Background()
	records := memory.New(memory.Config{})
	kafka := broker.NewMemory(broker.MemoryConfig{Partitions: 3})
	defer kafka.Close()
	kafka.Publish(ctx, []broker.Message{{Topic: "orders.dlq.payments", Key: []byte("customer-7"), Headers: idem.Headers{
		{Name: "idempotency_key", Value: []byte("order-8317")}, {Name: "reject_reason", Value: []byte("NO_RATE: EUR")},
	}}})

	report, err := deadletter.FromTopic(ctx, kafka, records, deadletter.TopicConfig{
		Scope: "payments", Origin: "orders", Name: "rates-of-july",
		Filter: store.DeadLetterFilter{ReasonPrefix: "NO_RATE"},
	})
	fmt.Println(report.Redriven, err, len(kafka.Messages("orders.retry.payments")))
	// Output: 1 <nil> 1
}
