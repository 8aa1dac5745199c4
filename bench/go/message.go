package bench

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	benchv1 "github.com/idem-spec/idem/bench/go/gen/bench/v1"
	shopv1 "github.com/idem-spec/idem/bench/go/gen/shop/v1"
)

// The values of every benchmark, in all languages. They are canonical already, as most are.
const (
	orderID   = "order-8317"
	paymentID = "pay_01JGFJJZ008K2V9C3QX7"
	amount    = "149.95"
	currency  = "EUR"
	seconds   = 1735704000
	nanos     = 123456789
)

const (
	// shopKey is the key of succeeded.
	shopKey = "payments.payment_success:v1:" + paymentID
	// settledKey is the key of settled.
	settledKey = "payments.payment_settled:v1:" + paymentID + ":149.95:EUR:2025-01-01T04:00:00.123Z"
)

// succeeded is the shop's message: a key of one component.
func succeeded() *shopv1.PaymentSucceeded {
	return &shopv1.PaymentSucceeded{
		OrderId:    orderID,
		Amount:     amount,
		Currency:   currency,
		OccurredAt: &timestamppb.Timestamp{Seconds: seconds, Nanos: nanos},
		PaymentId:  paymentID,
	}
}

// settled is the same with a key of four components.
func settled() *benchv1.PaymentSettled {
	return &benchv1.PaymentSettled{
		OrderId:    orderID,
		Amount:     amount,
		Currency:   currency,
		OccurredAt: &timestamppb.Timestamp{Seconds: seconds, Nanos: nanos},
		PaymentId:  paymentID,
	}
}
