package outbox_test

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// Publish asks the broker first. What it does not confirm is stored, and so is what comes behind.
func ExampleOutbox_Publish() {
	ctx := context.Background()
	tables := memory.New(memory.Config{}) // or a database's
	kafka := broker.NewMemory(broker.MemoryConfig{Partitions: 4})
	box, err := outbox.New(tables, kafka, outbox.Config{})
	if err != nil {
		panic(err)
	}
	results, err := box.Publish(ctx, broker.Message{Topic: "orders", Key: []byte("customer-7"), Value: []byte("…")})
	fmt.Println(results, err)
	// Output: [confirmed] <nil>
}

// PublishTx stores in the transaction of the business row; a relay publishes afterwards.
func ExamplePublishTx() {
	ctx := context.Background()
	tables := memory.New(memory.Config{})
	kafka := broker.NewMemory(broker.MemoryConfig{Partitions: 4})
	box, err := outbox.New(tables, kafka, outbox.Config{})
	if err != nil {
		panic(err)
	}
	relay, err := outbox.NewRelay(tables, kafka, outbox.RelayConfig{})
	if err != nil {
		panic(err)
	}
	err = tables.InTx(ctx, func(ctx context.Context, tx *memory.Tx) error {
		// … the business row, locked and updated in tx
		return outbox.PublishTx(ctx, box, tables, tx, broker.Message{Topic: "orders", Key: []byte("customer-7"), Value: []byte("…")})
	})
	if err != nil {
		panic(err)
	}
	n, err := relay.Step(ctx) // a service runs it with Run
	fmt.Println(n, err, len(kafka.Messages("orders")))
	// Output: 1 <nil> 1
}
