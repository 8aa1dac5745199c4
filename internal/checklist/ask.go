package checklist

import (
	"context"
	"fmt"
	"time"
)

// settled is how long a service may take, once it is ready, until what it is asked for is there: tables, mostly.
const settled = 5 * time.Second

// ask asks once for all that the adapter has questions for, so that a mistake in one is no fault of the service.
func (b *bench) ask(ctx context.Context) error {
	for place, m := range b.adapter.messages() {
		one, err := b.maker.make(m)
		if err != nil {
			return &placeError{place, err}
		}
		if err := b.askEffect(ctx, place+".effect", one); err != nil {
			return err
		}
		if m.Hold != "" {
			if err := b.askFor(ctx, place+".hold", func() error { return b.askHold(ctx, one) }); err != nil {
				return err
			}
		}
	}
	if b.letters == nil {
		return nil
	}
	return b.askFor(ctx, "dead_letters", func() error {
		_, err := b.letters.of(ctx, []string{"none"})
		return err
	})
}

// askEffect refuses an effect that is seen of a message which nobody has sent: with it, whatever a service does looks right.
func (b *bench) askEffect(ctx context.Context, place string, m *made) error {
	var seen int
	look := func() error {
		effects, err := b.effects(ctx, []*made{m})
		seen = effects[m.key]
		return err
	}
	if m.of.Effect.SQL == "" {
		_ = look() // who answers at a URL may come later; each fault asks again
	} else if err := b.askFor(ctx, place+".sql", look); err != nil {
		return err
	}
	if seen > 0 {
		return &placeError{place, fmt.Errorf("%d of %s, which nobody has sent yet: it has to count what the service did with that one message", seen, m.id)}
	}
	return nil
}

func (b *bench) askHold(ctx context.Context, m *made) error {
	g, err := b.lock(ctx, []*made{m})
	if err == nil {
		g.open()
	}
	return err
}

// askFor asks until there is an answer, for a while.
func (b *bench) askFor(ctx context.Context, place string, question func() error) error {
	for limit := time.Now().Add(settled); ; {
		err := question()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(limit):
			return &placeError{place, err}
		}
		pause(ctx, 200*time.Millisecond)
	}
}
