// Package confirm publishes batches so that one bad message holds back its own group alone, also where
// the broker refuses a whole batch for its sake: what failed is tried again in halves, down to single
// groups. What is for a topic that does not exist is not tried again, and during an outage it gives up
// early.
package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
)

// Span is a group: the messages [From, To) of a batch, which keep their order.
type Span struct{ From, To int }

// maxFruitless is how many publications without any confirmation, one after another, are an outage. A
// single bad message among many costs two or three.
const maxFruitless = 16

// Publish publishes messages and answers like broker.Publisher.Publish. Each call of the publisher has the
// time limit; all of them end with ctx. With nil spans each message is a group of its own. In a group none
// behind the first failed message counts as confirmed.
func Publish(ctx context.Context, p broker.Publisher, messages []broker.Message, spans []Span, limit time.Duration) []error {
	if len(messages) == 0 {
		return nil
	}
	b := batch{publisher: p, limit: limit, messages: messages}
	first := b.call(ctx, messages)
	if first == nil {
		return nil
	}
	if spans == nil {
		spans = singles(len(messages))
	}
	b.errs = make([]error, len(messages))
	b.settle(ctx, spans, first)
	for _, err := range b.errs {
		if err != nil {
			return b.errs
		}
	}
	return nil
}

func singles(n int) []Span {
	spans := make([]Span, n)
	for i := range spans {
		spans[i] = Span{i, i + 1}
	}
	return spans
}

type batch struct {
	publisher broker.Publisher
	limit     time.Duration
	messages  []broker.Message
	errs      []error
	fruitless int
}

// call publishes some of the messages. A publisher that answers for another number of them has confirmed
// none.
func (b *batch) call(ctx context.Context, messages []broker.Message) []error {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	errs := b.publisher.Publish(ctx, messages)
	if errs == nil || len(errs) == len(messages) {
		return errs
	}
	err := fmt.Errorf("publish %d messages: the publisher answered for %d", len(messages), len(errs))
	errs = make([]error, len(messages))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// try publishes what the groups have left.
func (b *batch) try(ctx context.Context, spans []Span) {
	if ctx.Err() != nil || b.fruitless >= maxFruitless {
		return // the errors of the publication before stand
	}
	var messages []broker.Message
	for _, s := range spans {
		messages = append(messages, b.messages[s.From:s.To]...)
	}
	b.settle(ctx, spans, b.call(ctx, messages))
}

// settle takes the answer for the messages of the groups, and tries again, apart, those that failed.
func (b *batch) settle(ctx context.Context, spans []Span, errs []error) {
	var failed []Span
	confirmed, at := 0, 0
	for _, s := range spans {
		left := s
		for i := s.From; i < s.To; i++ {
			err := error(nil)
			if errs != nil {
				err = errs[at]
			}
			at++
			switch {
			case i > left.From && err == nil: // behind a failed one: its order is not sure
				err = broker.ErrBehindFailed
			case err == nil:
				left.From++
				confirmed++
			}
			b.errs[i] = err
		}
		if left.From < left.To && !errors.Is(b.errs[left.From], broker.ErrUnknownTopic) {
			failed = append(failed, left)
		}
	}
	if confirmed > 0 {
		b.fruitless = 0
	} else {
		b.fruitless++
	}
	if len(spans) == 1 || len(failed) == 0 {
		return
	}
	if len(failed) == 1 {
		b.try(ctx, failed)
		return
	}
	b.try(ctx, failed[:len(failed)/2])
	b.try(ctx, failed[len(failed)/2:])
}
