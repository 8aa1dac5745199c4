// Package consumer runs typed handlers over the topics of a broker: at least once in, the effect of each
// route's mode out (Tx, Guarded or Idempotent).
//
//	c, err := consumer.New(b, s, consumer.Config{Group: "payments", Topics: []string{"payments"}},
//		consumer.Tx(charge),                                          // func(ctx, tx *sql.Tx, m *pb.PaymentSucceeded) error
//		consumer.Idempotent(notify, consumer.Route{Order: guard.Park}), // func(ctx, m *pb.OrderShipped) error
//	)
//	err = c.Run(ctx) // until ctx ends; nil on an orderly stop
//
// What becomes of one delivery is package guard's. Here is what surrounds it: which route a message has,
// what may run beside what (lanes), how much is in memory (windows), what may be committed (watermarks), when
// a route rests (breaker, Pause, Kill), and how a process joins, leaves and stops. (CONS-001 to CONS-012)
package consumer
