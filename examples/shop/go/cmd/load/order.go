package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// order is what a customer sends.
type order struct {
	ID       string `json:"order_id"`
	Customer int64  `json:"customer_id"`
	Email    string `json:"email"`
	Total    string `json:"total"`
	Currency string `json:"currency"`

	refunded bool
	key      string // of its request; empty: the shop goes by the order's id
}

// newOrder makes the n-th order of a run.
func newOrder(run string, n int, s settings) order {
	o := order{
		ID: fmt.Sprintf("o-%s-%d", run, n), Customer: 1 + rand.Int64N(1000), Currency: "EUR",
		Total:    fmt.Sprintf("%d.%02d", 1+rand.IntN(500), rand.IntN(100)),
		refunded: rand.Float64() < s.refunds,
	}
	if rand.Float64() < s.big {
		// 17 digits: a float has another cent, for the most part.
		o.Total, o.Currency = fmt.Sprintf("%d.%02d", 150_000_000_000_000+rand.Int64N(50_000_000_000_000), rand.IntN(100)), "IDR"
	}
	if rand.Float64() < s.keyed {
		o.key = "request-" + o.ID
	}
	o.Email = fmt.Sprintf("customer-%d@example.com", o.Customer)
	return o
}

// line is the order in the sheet, as the books read it.
func (o order) line(sent time.Time) string {
	refunded := ""
	if o.refunded {
		refunded = "refunded"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\n", o.ID, o.Total, o.Currency, sent.UTC().Format(time.RFC3339Nano), refunded)
}
