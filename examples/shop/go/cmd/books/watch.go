package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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

// columns are the counts that each service has, and how wide each is.
var columns = []struct {
	query string
	width int
}{{stopped, 12}, {retriesWaiting, 9}, {deadLetters, 13}, {outboxWaiting, 8}}

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
		for _, c := range columns {
			n, err := count(ctx, pool, c.query)
			errs = append(errs, err)
			fmt.Fprintf(&out, " %*d", c.width, n)
		}
		lag, err := b.lag(ctx, s.name, s.topics)
		errs = append(errs, err)
		fmt.Fprintf(&out, " %7d\n", lag)
	}
	a, err := b.accounts(ctx)
	errs = append(errs, err)
	open, err := b.openOrders(ctx)
	if err := errors.Join(append(errs, err)...); err != nil {
		return "", err
	}
	out.WriteString("\n" + promises(a) + "\n" + open + "\n")
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

// openOrders says of the orders that are not paid what they wait for.
func (b *books) openOrders(ctx context.Context) (string, error) {
	pool := b.databases["orders"]
	if pool == nil {
		return "       no orders service", nil
	}
	// Asked before what is on its way: what is lost is open, and nothing will come any more.
	rows, err := pool.Query(ctx, `SELECT order_id FROM orders WHERE status IN ('CREATED', 'PAYING') AND created_at < now() - interval '10 s'`)
	if err != nil {
		return "", err
	}
	open, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	onTheWay, err := b.waiting(ctx)
	if err != nil {
		return "", err
	}
	dead, err := b.ordersOf(ctx, deadOrders)
	if err != nil {
		return "", err
	}
	open = slices.DeleteFunc(open, func(order string) bool { return dead[order] })
	switch {
	case len(open) == 0:
		return "ok     no order lost", nil
	case onTheWay > 0:
		return fmt.Sprintf("ok     no order lost: %d are older than 10 s and not paid, and %d messages are on their way", len(open), onTheWay), nil
	}
	return fmt.Sprintf("WRONG  %d orders are not paid, and nothing is on its way; the first: %s", len(open), open[0]), nil
}
