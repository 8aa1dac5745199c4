package retry_test

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// A scheduler beside the consumers, or in a process of its own, publishes what is due. A service runs it
// with Run; here it makes one step.
func ExampleScheduler() {
	ctx := context.Background()
	tables := memory.New(memory.Config{}) // or a database's
	kafka := broker.NewMemory(broker.MemoryConfig{Partitions: 4})

	// What a guard writes when a handler has failed.
	_, err := tables.Settle(ctx, []store.Settlement{{State: idem.StateFailed, Retry: &store.Retry{
		Scope: "payments", Key: "order-8317", SourceTopic: "orders", Topic: "orders.retry.payments", Action: idem.ActionRetry,
		RetryCount: 1, MessageKey: []byte("customer-7"), Payload: []byte("…"), Status: store.RetryPending,
	}}})
	if err != nil {
		panic(err)
	}

	scheduler, err := retry.NewScheduler(tables, kafka, retry.Config{})
	if err != nil {
		panic(err)
	}
	n, err := scheduler.Step(ctx)
	fmt.Println(n, err, len(kafka.Messages("orders.retry.payments")))
	// Output: 1 <nil> 1
}

// Without a table, deliveries wait in topics.
func ExampleForwarder() {
	ctx, cancel := context.WithCancel(context.Background())
	kafka := broker.NewMemory(broker.MemoryConfig{Partitions: 4})
	defer kafka.Close()

	delays, err := retry.NewDelayTopics(kafka, retry.DelayConfig{
		Scope: "payments", Origins: []string{"orders"}, Buckets: []time.Duration{time.Second, time.Minute},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(delays.Topics())

	forwarder, err := retry.NewForwarder(kafka, delays, retry.ForwarderConfig{})
	if err != nil {
		panic(err)
	}
	ended := make(chan error)
	go func() { ended <- forwarder.Run(ctx) }() // beside the consumers

	cancel()
	fmt.Println(<-ended)
	// Output:
	// [orders.delay-1.payments orders.delay-60.payments]
	// <nil>
}
