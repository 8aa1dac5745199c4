// Package idemtest tests a handler against everything that can happen to it: its process is killed at every
// point, its calls fail or lose their reply, it sleeps past its lease while another one takes over, and its
// messages come twice and in another order. Check does all of this, and says in words which effect happened
// twice or got lost, and where:
//
//	func TestRefund(t *testing.T) {
//		idemtest.Check(t, idemtest.Case{
//			Handlers: []consumer.Handler{consumer.Tx(refund)},
//			Store:    idemtest.SQLite("CREATE TABLE refund (order_id TEXT, amount TEXT)"),
//			Messages: []broker.Message{idemtest.Message(t, "refunds", &refundsv1.RefundAsked{
//				OrderId: "o-17", Amount: "100.00", Currency: "USD", AskedAt: timestamppb.Now(),
//			})},
//			Effects:  idemtest.Query("SELECT order_id || ' ' || amount FROM refund"),
//		})
//	}
//
// A World is the same for a test of one's own: a broker, a store and the whole consumer within the process,
// whose time passes as fast as nothing happens. It lives in a bubble of testing/synctest:
//
//	synctest.Test(t, func(t *testing.T) {
//		w := idemtest.New(t, idemtest.Config{Handlers: handlers})
//		w.Arm(idemtest.Fault{At: idemtest.AfterHandler, Key: "payment:1:v1"})
//		w.Publish(messages...)
//		w.Run()
//		// w.DeadLetters(), w.Record(key), w.Deliveries()
//	})
//
// What it leaves to others: whether Kafka, PostgreSQL and Redis keep their promises. The runtime's own tests
// look at that.
package idemtest
