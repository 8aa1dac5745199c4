// Command outside is the world outside of the shop: a bank with its ledger, and a provider of mails. Both go by the
// Idempotency-Key of a call alone, as such services do, and fail on demand. They keep what was done in memory:
//
//	POST /bank/payments  {"payment_id", "order_id", "amount", "currency"}   moves money, once for each key
//	POST /bank/refunds   the same, back
//	POST /mail           {"order_id", "channel", "template"}                sends a mail, once for each key
//	GET  /ledger         all that was done, in its order
//	POST /mode           {"status": 503, "delay_ms": 200, "rate": 0.1}      how calls fail from now on; {} ends it
//
// It takes OUTSIDE_ADDRESS, and prints its address.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "outside:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("OUTSIDE_ADDRESS"), "127.0.0.1:0"))
	if err != nil {
		return fmt.Errorf("OUTSIDE_ADDRESS: %w", err)
	}
	server := &http.Server{Handler: newWorld().handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	fmt.Printf("outside: listening on http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
