// Command load sends the shop orders, as its customers and its neighbours do: requests come twice, refunds overtake
// what they refund, and gateways publish again what they have read, with other headers, or with amounts that were
// floats in between.
//
// It takes KAFKA_BROKERS; ORDERS_URL, without which it publishes the orders itself; and GATEWAY_URL, of the JSON
// gateway, without which no amount drifts. It prints what it did as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/idem-spec/idem/runtime/go/kafka"
)

// settings are the flags.
type settings struct {
	orders                                                      int
	rate                                                        float64
	duplicates, keyed, refunds, rewrites, drift, big, bankFails float64
	sheet                                                       string
	senders                                                     int
	linger                                                      time.Duration
}

// counts are what was done.
type counts struct {
	Orders     atomic.Int64
	Twice      atomic.Int64 // requests sent twice
	Refunds    atomic.Int64 // asked for before the order can be paid
	Copies     atomic.Int64 // messages published again as they are
	Rewritten  atomic.Int64 // with other headers
	Floats     atomic.Int64 // by the JSON gateway
	Refused    atomic.Int64 // by the JSON gateway itself
	Unanswered atomic.Int64 // requests that had to be sent again
}

func (c *counts) print(w io.Writer) error {
	return json.NewEncoder(w).Encode(map[string]int64{
		"orders": c.Orders.Load(), "requests_twice": c.Twice.Load(), "refunds_early": c.Refunds.Load(), "messages_twice": c.Copies.Load(),
		"headers_rewritten": c.Rewritten.Load(), "amounts_by_float": c.Floats.Load(), "gateway_refused": c.Refused.Load(), "requests_again": c.Unanswered.Load(),
	})
}

func main() {
	var s settings
	flag.IntVar(&s.orders, "orders", 1000, "how many orders; 0: until it is stopped")
	flag.Float64Var(&s.rate, "rate", 100, "orders a second; 0: as fast as they are taken")
	flag.IntVar(&s.senders, "senders", 8, "how many requests at a time")
	flag.Float64Var(&s.duplicates, "duplicates", 0.2, "which part of the requests, and of the messages, comes twice")
	flag.Float64Var(&s.keyed, "keyed", 0.5, "which part of the orders is sent with an Idempotency-Key; the others are told apart by their order's id")
	flag.Float64Var(&s.refunds, "refunds", 0.05, "which part of the orders is refunded, in reversed order: before it is paid")
	flag.Float64Var(&s.rewrites, "rewrites", 0.1, "which part of the messages comes again with other headers")
	flag.Float64Var(&s.drift, "drift", 0.1, "which part of the messages comes again by the JSON gateway")
	flag.Float64Var(&s.big, "big", 0.02, "which part of the orders has an amount that no float holds")
	flag.Float64Var(&s.bankFails, "bank-fails", 0, "which part of the bank's calls gets no answer, once the money is moved; it takes OUTSIDE_URL")
	flag.StringVar(&s.sheet, "sheet", "", "a file to write the orders into, for the books")
	flag.DurationVar(&s.linger, "linger", 5*time.Second, "how long messages are copied after the last order")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(s settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	broker, err := kafka.Open(kafka.Config{Brokers: strings.Split(os.Getenv("KAFKA_BROKERS"), ","), ClientID: "load"})
	if err != nil {
		return err
	}
	defer broker.Close()
	sheet := io.Discard
	if s.sheet != "" {
		file, err := os.Create(s.sheet)
		if err != nil {
			return err
		}
		defer file.Close()
		buffer := bufio.NewWriter(file)
		defer buffer.Flush()
		sheet = buffer
	}
	if s.bankFails > 0 {
		if err := failBank(ctx, s.bankFails); err != nil {
			return err
		}
	}
	n := new(counts)
	copying, end := context.WithCancel(ctx)
	c, err := newCopier(copying, broker, s, n)
	if err != nil {
		end()
		return err
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		c.run(copying)
	}()
	err = sendAll(ctx, newShop(broker), s, n, sheet)
	if err == nil {
		select {
		case <-ctx.Done():
		case <-time.After(s.linger):
		}
	}
	end()
	<-copied
	if err != nil {
		return err
	}
	return n.print(os.Stdout)
}
