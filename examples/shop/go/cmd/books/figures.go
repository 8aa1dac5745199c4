package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// figures prints how fast it was: from the request that was taken to the mail, or, without notifications, to the
// payment.
func (b *books) figures(ctx context.Context, orders map[string]sold) error {
	service, template := "notifications", "payment_succeeded"
	if b.databases[service] == nil {
		service, template = "payments", ""
	}
	effects, err := b.written(ctx, service)
	if err != nil {
		return err
	}
	var first, last time.Time
	var took []time.Duration
	for i := range effects {
		e := &effects[i]
		s, ok := orders[e.Order]
		if !ok || e.Template != template || e.Kind == "refund" {
			continue
		}
		took = append(took, e.At.Sub(s.sent))
		if first.IsZero() || s.sent.Before(first) {
			first = s.sent
		}
		if e.At.After(last) {
			last = e.At
		}
	}
	if len(took) == 0 {
		return nil
	}
	slices.Sort(took)
	fmt.Printf("       %d orders in %.1f s, %.0f a second; from request to %s p50 %d ms, p99 %d ms, longest %d ms\n", len(took), last.Sub(first).Seconds(),
		float64(len(took))/last.Sub(first).Seconds(), map[string]string{"notifications": "mail", "payments": "payment"}[service],
		quantile(took, 0.50).Milliseconds(), quantile(took, 0.99).Milliseconds(), took[len(took)-1].Milliseconds())
	if b.outside == "" {
		return nil
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return err
	}
	again := 0
	for i := range ledger {
		again += ledger[i].Calls - 1
	}
	fmt.Printf("       %d effects outside, %d calls that came again and were told so by their key\n", len(ledger), again)
	return nil
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
