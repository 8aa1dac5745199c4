package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// sendAll sends the orders, at the rate, and writes each into the sheet that was taken.
func sendAll(ctx context.Context, to shop, s settings, n *counts, sheet io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	orders := make(chan order)
	var senders sync.WaitGroup
	var writing sync.Mutex
	for range s.senders {
		senders.Go(func() {
			for o := range orders {
				sent := time.Now()
				if err := send(ctx, to, o, s, n); err != nil {
					cancel(err)
					return
				}
				writing.Lock()
				_, err := io.WriteString(sheet, o.line(sent))
				writing.Unlock()
				if err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	pace(ctx, s, orders)
	close(orders)
	senders.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// pace makes the orders, each when it is its turn.
func pace(ctx context.Context, s settings, orders chan<- order) {
	begun := time.Now()
	run := begun.UTC().Format("0102150405")
	for i := 0; s.orders == 0 || i < s.orders; i++ {
		if s.rate > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(time.Until(begun.Add(time.Duration(float64(i) / s.rate * float64(time.Second))))):
			}
		}
		select {
		case <-ctx.Done():
			return
		case orders <- newOrder(run, i+1, s):
		}
	}
}

// send sends an order until it is taken, and some twice; and asks for the refunds of those that are to have one,
// before the shop can have the money.
func send(ctx context.Context, to shop, o order, s settings, n *counts) error {
	first, err := take(ctx, to, o, n)
	if err != nil {
		return err
	}
	if rand.Float64() < s.duplicates {
		n.Twice.Add(1)
		again, err := take(ctx, to, o, n)
		if err != nil {
			return err
		}
		if again != first {
			return fmt.Errorf("order %s, sent again, is answered %s, and was answered %s", o.ID, again, first)
		}
	}
	n.Orders.Add(1)
	if !o.refunded {
		return nil
	}
	n.Refunds.Add(1)
	at := time.Now().Truncate(time.Millisecond)
	return until(ctx, n, func() error { return to.refund(ctx, o, at) })
}

// take sends an order until there is an answer.
func take(ctx context.Context, to shop, o order, n *counts) (answer string, err error) {
	err = until(ctx, n, func() error {
		answer, err = to.order(ctx, o)
		return err
	})
	return answer, err
}

// until sends until there is an answer.
func until(ctx context.Context, n *counts, request func() error) error {
	for {
		err := request()
		if err == nil || !errors.Is(err, errNotNow) {
			return err
		}
		n.Unanswered.Add(1)
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
