package redis

import (
	"context"
	"fmt"
	"strconv"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Complete makes records SUCCESS.
func (s *Store) Complete(ctx context.Context, completions []store.Completion) ([]bool, error) {
	action := func() string { return fmt.Sprintf("complete %d keys", len(completions)) }
	b := s.steps(len(completions))
	for i := range completions {
		c := &completions[i]
		if len(c.Result) > store.MaxResult {
			return nil, fmt.Errorf("complete %s: its result is %d bytes, and a record keeps at most %d", c.Lease.Key, len(c.Result), store.MaxResult)
		}
		if c.Lease.Owner == "" {
			continue
		}
		if err := b.add(i, &c.Lease, c.Lease.Owner, b.token(i), milliseconds(s.config.Retention), c.Result); err != nil {
			return nil, named(action(), err)
		}
	}
	done, err := b.run(ctx, &completeScript)
	return done, named(action(), err)
}

// Settle ends deliveries that did not succeed, once what follows from them is confirmed elsewhere.
func (s *Store) Settle(ctx context.Context, settlements []store.Settlement) ([]store.Settled, error) {
	action := func() string { return fmt.Sprintf("settle %d deliveries", len(settlements)) }
	b := s.steps(len(settlements))
	for i := range settlements {
		x := &settlements[i]
		if x.Retry != nil || x.DeadLetter != nil {
			return nil, named(action(), ErrFollowUps)
		}
		if !x.Lease.Held() {
			continue
		}
		if x.State != idem.StateFailed && x.State != idem.StateDead {
			return nil, fmt.Errorf("settle %s: the state is %v, and has to be FAILED or DEAD", x.Lease.Key, x.State)
		}
		back := 0
		if x.GiveBack {
			back = 1
		}
		counts := x.Counts()
		if err := b.add(i, &x.Lease, x.Lease.Owner, b.token(i), milliseconds(s.config.Retention), int(x.State), back,
			x.RedriveCount, x.Position(), counts.Retry, counts.Hold); err != nil {
			return nil, named(action(), err)
		}
	}
	written, err := b.run(ctx, &settleScript)
	if err != nil {
		return nil, named(action(), err)
	}
	settled := make([]store.Settled, len(settlements))
	for i := range settlements {
		settled[i] = store.SettledWritten
		if settlements[i].Lease.Held() && !written[i] {
			settled[i] = store.SettledFenced
		}
	}
	return settled, nil
}

// Renew extends leases. It never shortens one.
func (s *Store) Renew(ctx context.Context, renewals []store.Renewal) ([]bool, error) {
	action := func() string { return fmt.Sprintf("renew %d leases", len(renewals)) }
	b := s.steps(len(renewals))
	for i := range renewals {
		r := &renewals[i]
		if r.Lease.Owner == "" {
			continue
		}
		if err := b.add(i, &r.Lease, r.Lease.Owner, milliseconds(r.For), milliseconds(s.config.Retention)); err != nil {
			return nil, named(action(), err)
		}
	}
	renewed, err := b.run(ctx, &renewScript)
	return renewed, named(action(), err)
}

// steps is one script for each of some leases.
type steps struct {
	s     *Store
	call  string
	size  int
	which []int
	calls []call
}

func (s *Store) steps(size int) *steps {
	return &steps{s: s, call: token(), size: size, which: make([]int, 0, size), calls: make([]call, 0, size)}
}

// token is that of one call: the client may send it again when its reply was lost, and gets the same answer.
// (Fault 11)
func (b *steps) token(i int) string { return b.call + strconv.Itoa(i) }

func (b *steps) add(i int, l *store.Lease, args ...any) error {
	if !l.Held() {
		return nil
	}
	keys, err := b.s.keys(l.Scope, l.Key, l.Previous)
	if err != nil {
		return err
	}
	args = append(args, strconv.FormatInt(l.Fence, 10))
	if l.Previous != "" {
		args = append(args, strconv.FormatInt(l.PreviousFence, 10))
	}
	b.which, b.calls = append(b.which, i), append(b.calls, call{keys, args})
	return nil
}

// run answers false for what was not added.
func (b *steps) run(ctx context.Context, sc *script) ([]bool, error) {
	replies, err := b.s.run(ctx, sc, b.calls)
	if err != nil {
		return nil, err
	}
	answers, err := yes(replies)
	if err != nil {
		return nil, err
	}
	done := make([]bool, b.size)
	for n, i := range b.which {
		done[i] = answers[n]
	}
	return done, nil
}
