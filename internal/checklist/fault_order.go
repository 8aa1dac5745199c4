package checklist

import (
	"context"
	"strconv"
	"time"
)

// reversedOrder sends the messages of a state machine last one first.
func reversedOrder(ctx context.Context, t *trial) error {
	const n = 5
	steps := make([][]*made, len(t.adapter.Order))
	for range n {
		t.maker.next++
		number := strconv.FormatInt(t.maker.next, 10)
		for i, m := range t.adapter.Order {
			made, err := t.maker.makeOf(m, number)
			if err != nil {
				return err
			}
			steps[i] = append(steps[i], made)
		}
	}
	for _, step := range steps {
		if err := t.track(ctx, step...); err != nil {
			return err
		}
	}
	t.injected("%d things, the %d messages of each sent last one first, a second apart", n, len(steps))
	for i := len(steps) - 1; i >= 0; i-- {
		if err := t.send(ctx, steps[i]...); err != nil {
			return err
		}
		if i == 0 {
			break
		}
		pause(ctx, time.Second)
		for _, later := range steps[i:] {
			effects, err := t.effects(ctx, later)
			if err != nil {
				return err
			}
			for _, m := range later {
				if effects[m.key] > 0 {
					t.violate("ORDER", "%s: it was done before its predecessor was sent", m.key)
				}
			}
		}
	}
	t.seen("until the first message of a thing was sent, none of its others was done")
	return t.settle(ctx)
}
