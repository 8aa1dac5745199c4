package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// shown is how many findings are printed of each kind.
const shown = 10

// check waits until all orders of the sheet are through and nothing is on its way, and says what is wrong.
func (b *books) check(ctx context.Context, path string, within time.Duration) error {
	orders, err := readSheet(path)
	if err != nil {
		return err
	}
	if len(orders) == 0 {
		return fmt.Errorf("%s has no orders", path)
	}
	deadline := time.Now().Add(within)
	for {
		a, err := b.accounts(ctx)
		if err != nil {
			return err
		}
		waiting, err := b.waiting(ctx)
		if err != nil {
			return err
		}
		if done := b.through(a, orders) == len(orders) && waiting == 0; done || time.Now().After(deadline) {
			return b.judge(ctx, orders)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// accounts reads everything.
func (b *books) accounts(ctx context.Context) (accounts, error) {
	a := make(accounts)
	for service := range b.databases {
		effects, err := b.written(ctx, service)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", service, err)
		}
		a.enter("", effects)
	}
	if b.outside == "" {
		return a, nil
	}
	effects, err := b.ledger(ctx)
	a.enter("outside: ", effects)
	return a, err
}

func (b *books) through(a accounts, orders map[string]sold) (n int) {
	for order, s := range orders {
		if len(b.missing(a, order, s)) == 0 {
			n++
		}
	}
	return n
}

// judge prints the verdict and the figures.
func (b *books) judge(ctx context.Context, orders map[string]sold) error {
	a, err := b.accounts(ctx)
	if err != nil {
		return err
	}
	waits, err := b.ordersOf(ctx, deadOrders)
	if err != nil {
		return err
	}
	keyless, err := b.ordersOf(ctx, keylessOrders)
	if err != nil {
		return err
	}
	var lost, refused []string
	dead := 0
	for order, s := range orders {
		if keyless[order] {
			refused = append(refused, order)
		}
		switch missing := b.missing(a, order, s); {
		case len(missing) == 0:
		case waits[order]:
			dead++
		default:
			lost = append(lost, fmt.Sprintf("%s: no %v, and nothing waits", order, missing))
		}
	}
	slices.Sort(lost)
	slices.Sort(refused)
	ok := verdict("nobody paid twice, no mail twice", a.twice())
	ok = verdict("no order lost", lost) && ok
	ok = verdict("everybody paid what the order costs", a.otherAmounts(orders)) && ok
	ok = verdict("no message refused for want of its key's header", refused) && ok
	if dead > 0 {
		fmt.Printf("  %d orders wait for an operator: idem dlq ls\n", dead)
	}
	if err := b.figures(ctx, orders); err != nil {
		return err
	}
	if !ok {
		return errWrong
	}
	return nil
}

func verdict(what string, wrong []string) bool {
	if len(wrong) == 0 {
		fmt.Printf("ok     %s\n", what)
		return true
	}
	fmt.Printf("WRONG  %s: %d\n", what, len(wrong))
	for _, line := range wrong[:min(len(wrong), shown)] {
		fmt.Println("      ", line)
	}
	return false
}
