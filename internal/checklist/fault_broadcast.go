package checklist

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// broadcast sends messages to services that consume one topic, all at once, twice each: each service has one effect of
// each, by one key.
func broadcast(ctx context.Context, adapters []*Adapter, o Options, report *Report) error {
	const n = 5
	var trials []*trial
	defer func() {
		for _, t := range trials {
			t.close()
		}
	}()
	for i, a := range adapters {
		result := report.Services[i].of(broadcastName)
		if result.Status == Skipped {
			continue
		}
		o.tell(a.Name+": starts for the broadcast", "")
		b, err := newBench(ctx, a, o)
		if err != nil {
			return ofAdapter(a, err)
		}
		trials = append(trials, b.newTrial(result))
		if err := b.start(ctx); err != nil {
			return err
		}
	}
	if len(trials) == 0 {
		return nil
	}
	if err := alone(trials); err != "" {
		for _, t := range trials {
			t.skip(err)
		}
		return nil
	}
	first := trials[0]
	var all []*made
	for range n {
		m, err := first.maker.make(first.adapter.Broadcast)
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	var names []string
	for _, t := range trials {
		names = append(names, strings.TrimSpace(t.adapter.Name+" "+inBrackets(t.adapter.Language)))
		// Each sees its effect in its own way.
		for _, m := range all {
			own := *m
			own.of = t.adapter.Broadcast
			if err := t.track(ctx, &own); err != nil {
				return err
			}
		}
	}
	o.tell("broadcast to "+strings.Join(names, ", "), "")
	if err := first.send(ctx, append(all[:len(all):len(all)], all...)...); err != nil {
		return err
	}
	for _, t := range trials {
		t.injected("%d messages on %s, twice each, to %s", n, all[0].Topic, strings.Join(names, ", "))
		err := t.settle(ctx)
		if err == nil {
			err = t.judge(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			t.violate("NOT QUIET", "%v", err)
		}
		t.seen("group %s had one effect of each, under keys such as %s", t.values["group"], all[0].key)
		t.conclude()
		t.result.Took = time.Since(t.begun)
	}
	return nil
}

// alone says why there is no broadcast.
func alone(trials []*trial) string {
	if len(trials) < 2 {
		return "no other adapter has a broadcast"
	}
	topic, kind := trials[0].adapter.Broadcast.Topic, trials[0].adapter.Broadcast.Type
	for _, t := range trials[1:] {
		if b := t.adapter.Broadcast; b.Topic != topic || b.Type != kind {
			return fmt.Sprintf("%s has %s on %s, and %s has %s on %s: it has to be one message", trials[0].adapter.Name, kind, topic, t.adapter.Name, b.Type, b.Topic)
		}
	}
	return ""
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}
