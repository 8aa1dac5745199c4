package guard

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// CodeTooLargeToRetry is in front of the reject_reason of a message that with the headers of its next delivery is over
// the topic's limit: it is a dead letter at once.
const CodeTooLargeToRetry = "TOO_LARGE_TO_RETRY"

// reasonParked is the reason of a row that waits for the head of its lane.
const reasonParked = "PARKED"

// planNext is a retry, a hold or a deferral: a row of the table, or a publication before the record is settled.
func (g *Guard) planNext(ctx context.Context, s *scratch, d *Delivery) error {
	settlement := g.settlement(d)
	settlement.State = idem.StateFailed
	settlement.GiveBack = d.Decision.Action != idem.ActionRetry
	settlement.RetryCount, settlement.HoldCount = d.Decision.Counts.Retry, d.Decision.Counts.Hold
	row, err := g.row(d)
	if err != nil {
		return err
	}
	if g.retryTable {
		settlement.Retry = &row
		settlement.Leave = d.Decision.Action == idem.ActionHold
		s.settle(d, settlement)
		return nil
	}
	if d.published {
		g.settleHeld(ctx, s, d, settlement)
		return nil
	}
	s.rows, s.retrying = append(s.rows, row), append(s.retrying, d)
	return nil
}

// planDead is a dead letter, of the table or of a topic. (HDR-016)
func (g *Guard) planDead(s *scratch, d *Delivery) error {
	headers, err := g.headers(d)
	if err != nil {
		return err
	}
	m := d.Message
	if !g.deadTable {
		s.dead = append(s.dead, broker.Message{Topic: broker.DeadLetterTopic(d.Origin, g.c.Scope), Key: m.Key, Value: m.Value, Headers: headers})
		s.dying = append(s.dying, d)
		return nil
	}
	settlement := g.deadSettlement(d)
	settlement.DeadLetter = g.deadLetter(d, headers)
	s.settle(d, settlement)
	return nil
}

// publish sends what goes to topics, and plans the settlement of what is confirmed. (DEDUP-021)
func (g *Guard) publish(ctx context.Context, s *scratch) error {
	var failures []error
	if len(s.rows) > 0 {
		answers := g.c.Delays.PublishRetries(ctx, s.rows)
		for i, d := range s.retrying {
			if err := answerOf(answers, i, len(s.rows)); err != nil {
				if errors.Is(err, broker.ErrTooLarge) {
					d.Result = idem.Result{Outcome: idem.OutcomeNonRetryable, Reason: CodeTooLargeToRetry + ": " + d.reason()}
					s.again = append(s.again, d)
					continue
				}
				failures = append(failures, fmt.Errorf("publish the next delivery of %s to %s: %w", d.place(), s.rows[i].Topic, err))
				continue
			}
			d.published = true
			settlement := g.settlement(d)
			settlement.State, settlement.GiveBack = idem.StateFailed, d.Decision.Action != idem.ActionRetry
			settlement.RetryCount, settlement.HoldCount = d.Decision.Counts.Retry, d.Decision.Counts.Hold
			g.settleHeld(ctx, s, d, settlement)
		}
	}
	if len(s.dead) > 0 {
		unsent := s.unsent()
		var answers []error
		if len(unsent) > 0 {
			answers = g.c.Publisher.Publish(ctx, unsent)
		}
		sent := 0
		for _, d := range s.dying {
			if !d.published {
				m, err := &unsent[sent], answerOf(answers, sent, len(unsent))
				sent++
				if errors.Is(err, broker.ErrTooLarge) {
					if g.store.FollowUps() { // a table takes it
						settlement := g.deadSettlement(d)
						settlement.DeadLetter = g.deadLetter(d, m.Headers)
						s.settle(d, settlement)
						continue
					}
					err = fmt.Errorf("%w: raise max.message.bytes of the topic: until then this partition waits", err)
				}
				if err != nil {
					failures = append(failures, fmt.Errorf("publish the dead letter of %s to %s: %w", d.place(), m.Topic, err))
					continue
				}
				d.published = true
			}
			g.settleHeld(ctx, s, d, g.deadSettlement(d))
		}
	}
	return errors.Join(failures...)
}

// unsent leaves out the dead letters that were confirmed by an earlier Settle.
func (s *scratch) unsent() []broker.Message {
	n := 0
	for i, d := range s.dying {
		if !d.published {
			s.dead[n] = s.dead[i]
			n++
		}
	}
	return s.dead[:n]
}

// answerOf is the i-th answer; a broker that gives too few has confirmed nothing.
func answerOf(answers []error, i, n int) error {
	switch {
	case answers == nil:
		return nil
	case len(answers) != n:
		return fmt.Errorf("%d answers for %d messages", len(answers), n)
	}
	return answers[i]
}

// settleHeld settles what is published, where there is a record or a lane to settle.
func (g *Guard) settleHeld(ctx context.Context, s *scratch, d *Delivery, settlement store.Settlement) {
	if settlement.Lease.Held() {
		s.settle(d, settlement)
		return
	}
	g.done(ctx, d)
}

// settlement is what all have.
func (g *Guard) settlement(d *Delivery) store.Settlement {
	return store.Settlement{Lease: d.Grant.Lease, RedriveCount: d.Envelope.RedriveCount, Lane: d.Lane}
}

// deadSettlement ends a life. One whose payload could not be read gives the claim back: the same key may come
// with a payload that can. (DEDUP-012)
func (g *Guard) deadSettlement(d *Delivery) store.Settlement {
	settlement := g.settlement(d)
	// Without a claim it is another message with the head's key, which stays. (CONS-014)
	settlement.State, settlement.Leave = idem.StateDead, d.Lane.Set() && d.held()
	settlement.RetryCount, settlement.HoldCount = d.Decision.Counts.Retry, d.Decision.Counts.Hold
	if d.Result.Outcome == idem.OutcomeMalformed {
		kept := g.inPlace(d, true)
		settlement.State, settlement.GiveBack, settlement.Kept = kept.State, true, kept.Kept
		settlement.RetryCount, settlement.HoldCount = kept.RetryCount, kept.HoldCount
	}
	return settlement
}

// inPlace leaves the record at this very delivery, with the counts that it has come to. (DEDUP-011)
func (g *Guard) inPlace(d *Delivery, giveBack bool) store.Settlement {
	settlement := g.settlement(d)
	settlement.State, settlement.GiveBack = idem.StateFailed, giveBack
	settlement.RetryCount, settlement.HoldCount = d.Envelope.RetryCount, d.Envelope.HoldCount
	settlement.Kept = d.Counts
	if d.Decision.Action != 0 {
		settlement.Kept = d.Decision.Counts
	}
	settlement.Lane = store.Lane{} // the lane is the window's
	return settlement
}

// headers are those of what follows. Faulty headers keep their counts, which nobody could read. (HDR-031)
func (g *Guard) headers(d *Delivery) (idem.Headers, error) {
	next := d.Decision.Next(g.c.Scope, d.Origin, g.c.Now().UnixMilli())
	if d.Envelope.Present == 0 && d.Key == "" && d.Result.Outcome == idem.OutcomeMalformed {
		next.RetryCount, next.HoldCount = -1, -1
	}
	headers, err := idem.AppendNext(nil, idem.Kafka, d.Message.Headers, &next)
	if err != nil {
		return nil, fmt.Errorf("write the next headers of %s: %w", d.place(), err)
	}
	return headers, nil
}

// row is the delivery to come.
func (g *Guard) row(d *Delivery) (store.Retry, error) {
	headers, err := g.headers(d)
	if err != nil {
		return store.Retry{}, err
	}
	m, e := d.Message, &d.Envelope
	return store.Retry{
		Scope: g.c.Scope, Key: d.Key, EventType: e.EventType, BizKey: d.BizKey, EventID: column(e.EventID),
		SourceTopic: m.Topic, SourcePartition: m.Partition, SourceOffset: m.Offset,
		RedriveCount: e.RedriveCount, RetryCount: d.Decision.Counts.Retry, HoldCount: d.Decision.Counts.Hold,
		Action: d.Decision.Action, Reason: string(idem.AppendReason(nil, d.reason())),
		Topic: broker.RetryTopic(d.Origin, g.c.Scope), MessageKey: m.Key, Headers: headers, Payload: m.Value,
		Due: d.delay(), Park: d.Status == Parked, Lane: d.Lane,
	}, nil
}

func (g *Guard) deadLetter(d *Delivery, headers idem.Headers) *store.DeadLetter {
	m, e := d.Message, &d.Envelope
	l := &store.DeadLetter{
		Scope: g.c.Scope, Key: d.Key, EventType: e.EventType, BizKey: d.BizKey, EventID: column(e.EventID),
		SourceTopic: m.Topic, SourcePartition: m.Partition, SourceOffset: m.Offset,
		RedriveCount: e.RedriveCount, RetryCount: d.Decision.Counts.Retry, HoldCount: d.Decision.Counts.Hold,
		Outcome: d.Result.Outcome, Reason: string(idem.AppendReason(nil, d.reason())),
		Topic: d.Origin, MessageKey: m.Key, Headers: headers, Payload: m.Value,
	}
	if e.Present == 0 { // faulty headers: what of them is sound all the same, to find it by
		l.Key, l.EventType = rawText(m.Headers, idem.IdempotencyKey), rawText(m.Headers, idem.EventType)
		l.BizKey, l.EventID = rawText(m.Headers, idem.BizKey), rawText(m.Headers, idem.EventID)
	}
	return l
}

// place is a delivery's position in its topic, "orders/3/1207".
func (d *Delivery) place() string {
	m := d.Message
	return m.Topic + "/" + strconv.FormatInt(int64(m.Partition), 10) + "/" + strconv.FormatInt(m.Offset, 10)
}

// backoffKey is what spreads the delays. (RETRY-032)
func (d *Delivery) backoffKey() string {
	if d.Key == "" {
		return d.place()
	}
	return d.Key
}
