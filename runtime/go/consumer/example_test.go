package consumer_test

import (
	"context"
	"fmt"
	"log/slog"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

// PaymentSucceeded stands for what protoc-gen-go and protoc-gen-idem generate.
type PaymentSucceeded struct{ wrapperspb.StringValue }

// IdemEventType is generated.
func (*PaymentSucceeded) IdemEventType() string { return "payments.payment_success" }

func ExampleNew() {
	ctx, cancel := context.WithCancel(context.Background())
	b, s := broker.NewMemory(broker.MemoryConfig{Partitions: 3}), memory.New(memory.Config{})

	// The effect and the record of the key are one transaction: with package postgres tx is a *sql.Tx or a pgx.Tx.
	charge := func(ctx context.Context, tx *memory.Tx, m *PaymentSucceeded) error {
		tx.Do(func() {
			fmt.Println("charged", m.GetValue(), "once, by", guard.KeyOf(ctx))
			cancel()
		})
		return nil
	}
	c, err := consumer.New(b, s, consumer.Config{Group: "payments", Topics: []string{"payments"}, Log: slog.New(slog.DiscardHandler)},
		consumer.Tx(charge, consumer.Route{Order: guard.Park}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	payload, _ := proto.Marshal(wrapperspb.String("p-17"))
	m := broker.Message{Topic: "payments", Key: []byte("order-8"), Value: payload, Headers: idem.Headers{
		{Name: "idempotency_key", Value: []byte("payments.payment_success:v1:p-17")},
		{Name: "event_type", Value: []byte("payments.payment_success")},
		{Name: "biz_key", Value: []byte("order-8")},
	}}
	b.Publish(ctx, []broker.Message{m, m})
	fmt.Println(c.Run(ctx))
	// Output:
	// charged p-17 once, by payments.payment_success:v1:p-17
	// <nil>
}
