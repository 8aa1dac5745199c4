package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// interval is how often the view is drawn.
const interval = time.Second

// watch draws the view until ctx ends.
func (b *books) watch(ctx context.Context) error {
	lines := 0
	for {
		text, err := b.view(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to end
		}
		if err != nil {
			text = fmt.Sprintf("no answer: %v\n", err)
		}
		if lines > 0 {
			fmt.Printf("\033[%dA\033[J", lines)
		}
		fmt.Print(text)
		lines = strings.Count(text, "\n")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(interval):
		}
	}
}

// views are the lines of each service: the label, and a query of its database.
var views = map[string][][2]string{
	"orders":        {{"created", `SELECT count(*) FROM orders`}, {"paid", `SELECT count(*) FROM orders WHERE status IN ('PAID', 'REFUNDED')`}},
	"payments":      {{"paid", `SELECT count(*) FROM payment`}, {"refunded", `SELECT count(*) FROM refund`}},
	"notifications": {{"paid mails", `SELECT count(*) FROM notification WHERE template = 'payment_succeeded'`}, {"refund mails", `SELECT count(*) FROM notification WHERE template = 'refund_requested'`}},
}

// columns are what each service has.
var columns = [][2]string{{"stopped", stopped}, {"retries", retriesWaiting}, {"dead letters", deadLetters}, {"outbox", outboxWaiting}}

func (b *books) view(ctx context.Context) (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "%-14s %-34s %12s %9s %13s %8s %7s\n", "", "", "duplicates", "retries", "dead", "in the", "")
	fmt.Fprintf(&out, "%-14s %-34s %12s %9s %13s %8s %7s\n", "service", "effects", "stopped", "waiting", "letters", "outbox", "lag")
	var errs []error
	for _, s := range services {
		pool := b.databases[s.name]
		if pool == nil {
			continue
		}
		var effects []string
		for _, v := range views[s.name] {
			n, err := count(ctx, pool, v[1])
			errs = append(errs, err)
			effects = append(effects, fmt.Sprintf("%d %s", n, v[0]))
		}
		fmt.Fprintf(&out, "%-14s %-34s", s.name, strings.Join(effects, ", "))
		for i, c := range columns {
			n, err := count(ctx, pool, c[1])
			errs = append(errs, err)
			fmt.Fprintf(&out, " %*d", []int{12, 9, 13, 8}[i], n)
		}
		lag, err := b.lag(ctx, s.name, s.topics)
		errs = append(errs, err)
		fmt.Fprintf(&out, " %7d\n", lag)
	}
	a, err := b.accounts(ctx)
	if err := errors.Join(append(errs, err)...); err != nil {
		return "", err
	}
	out.WriteString("\n" + promises(a) + "\n")
	return out.String(), nil
}

// promises are what has to hold at any time, whatever is on its way.
func promises(a accounts) string {
	wrong := a.twice()
	if len(wrong) == 0 {
		return fmt.Sprintf("ok     nobody paid twice, no mail twice: %d orders", len(a))
	}
	return fmt.Sprintf("WRONG  %d effects twice; the first: %s", len(wrong), wrong[0])
}
