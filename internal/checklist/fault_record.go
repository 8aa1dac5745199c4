package checklist

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// betweenEffectAndRecord kills the process when its handler has ended, and before the record of the message says so. An
// effect in the transaction of the record is gone with it; one outside is there already, and comes again with the message.
func (t *trial) betweenEffectAndRecord(ctx context.Context) error {
	table, err := t.recordTable(ctx)
	if err != nil {
		return err
	}
	if table == "" {
		t.seen("no kill between an effect and its record: there is no table idem_record, and where else the record is nobody knows")
		return nil
	}
	i, err := t.one(ctx)
	if err != nil {
		return err
	}
	all, handler, err := t.inHandler(ctx, 1, 1, true)
	if err != nil {
		return err
	}
	defer handler.open()
	m := all[0]
	record, err := t.lockRecord(ctx, table, m)
	if errors.Is(err, errNoRecord) {
		t.seen("no kill between an effect and its record: %v", err)
		handler.open()
		return t.settle(ctx)
	}
	if err != nil {
		return err
	}
	defer record.open()
	handler.open()
	err = t.until(ctx, func() (string, error) {
		waiting, err := record.waiting(ctx)
		if err != nil || waiting > 0 {
			return "", err
		}
		return "nobody has tried to end " + m.id + " in " + table, nil
	})
	if err != nil {
		return err
	}
	i.kill()
	at := time.Now()
	// Before the lock is gone: what waits for it may have its COMMIT behind it, on its way.
	if err := record.cutWaiting(ctx); err != nil {
		return err
	}
	effects, err := t.effects(ctx, all)
	if err != nil {
		return err
	}
	record.open()
	t.injected("kill -9 at %s, when the handler of %s had ended and its record in %s could not be written", clock(at), m.id, table)
	before := effects[m.key]
	if before > 0 {
		t.seen("%s had an effect before its record was written: it is outside of the transaction that ends the message", m.id)
	}
	if _, err := t.one(ctx); err != nil {
		return err
	}
	t.patience += t.adapter.Lease.Duration + t.adapter.Session.Duration
	if err := t.untilEnded(ctx, table, m); err != nil {
		return err
	}
	if effects, err = t.effects(ctx, all); err != nil {
		return err
	}
	t.proof("%s came again: %s when the process was killed, and %d in the end", m.id, plural(before, "effect", "effects"), effects[m.key])
	if n := effects[m.key]; n > 1 { // and the rounds that follow show nothing new
		t.addOnce(fmt.Sprintf("TWICE %s: %d effects", m.key, n))
	}
	return nil
}

// untilEnded waits until the record of a message says that it has ended.
func (t *trial) untilEnded(ctx context.Context, table string, m *made) error {
	return t.until(ctx, func() (string, error) {
		over, err := t.ended(ctx, table, m)
		if err != nil || over {
			return "", err
		}
		return m.id + " has no record of its end", nil
	})
}
