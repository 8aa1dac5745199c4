package main

import (
	"fmt"
	"math/big"
	"slices"
)

// account is what was done about one order: how often each thing, and for how much.
type account struct {
	times   map[string]int // "payment", "mail payment_succeeded", "state PAID"; "bank: payment"
	amounts []string
}

// accounts are those of all orders that anybody knows.
type accounts map[string]*account

// enter writes effects of a place, which is empty for a service's own tables.
func (a accounts) enter(place string, effects []effect) {
	for i := range effects {
		e := &effects[i]
		x := a[e.Order]
		if x == nil {
			x = &account{times: make(map[string]int)}
			a[e.Order] = x
		}
		what := place + e.Kind
		if e.Template != "" {
			what += " " + e.Template
		}
		x.times[what]++
		if e.Kind == "payment" {
			x.amounts = append(x.amounts, e.Amount)
		}
	}
}

// twice are the effects that an order had more than once.
func (a accounts) twice() (wrong []string) {
	for order, x := range a {
		for what, n := range x.times {
			if n > 1 {
				wrong = append(wrong, fmt.Sprintf("%s: %s, %d times", order, what, n))
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

// needs is what an order has to come to, by the services that there are.
func (b *books) needs(s sold) (needs []string) {
	add := func(service string, always, refunded []string) {
		if b.databases[service] == nil {
			return
		}
		needs = append(needs, always...)
		if s.refunded {
			needs = append(needs, refunded...)
		}
	}
	add("orders", []string{"state PAID"}, []string{"state REFUNDED"})
	add("payments", []string{"payment"}, []string{"refund"})
	add("notifications", []string{"mail payment_succeeded"}, []string{"mail refund_requested"})
	if b.outside == "" {
		return needs
	}
	add("payments", []string{"outside: payment"}, []string{"outside: refund"})
	add("notifications", []string{"outside: mail payment_succeeded"}, []string{"outside: mail refund_requested"})
	return needs
}

// missing is what an order has not come to.
func (b *books) missing(a accounts, order string, s sold) (missing []string) {
	x := a[order]
	for _, what := range b.needs(s) {
		if x == nil || x.times[what] == 0 {
			missing = append(missing, what)
		}
	}
	return missing
}

// otherAmounts are the payments of orders that cost something else.
func (a accounts) otherAmounts(orders map[string]sold) (wrong []string) {
	for order, x := range a {
		s, ok := orders[order]
		if !ok {
			continue
		}
		for _, amount := range x.amounts {
			if !equal(amount, s.total) {
				wrong = append(wrong, fmt.Sprintf("%s: costs %s, and %s was paid", order, s.total, amount))
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

func equal(a, b string) bool {
	x, ok := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	return ok && also && x.Cmp(y) == 0
}
