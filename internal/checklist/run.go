package checklist

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Run injects the faults into the services, one service after the other, and the broadcast into all of them at once.
// The error is an *AdapterError, a *StartError of a service that did not start at first, or one of the servers.
func Run(ctx context.Context, adapters []*Adapter, o Options) (*Report, error) {
	if o.run == "" {
		var random [4]byte
		_, _ = rand.Read(random[:]) // never fails
		o.run = hex.EncodeToString(random[:])
	}
	report := &Report{Started: time.Now(), Outage: o.Outage}
	for _, a := range adapters {
		s, err := runService(ctx, a, o, len(adapters) > 1)
		if err != nil {
			return nil, err
		}
		report.Services = append(report.Services, s)
	}
	if len(adapters) > 1 && o.wants(broadcastName) {
		err := broadcast(ctx, adapters, o, report)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			report.notBroadcast(err)
		}
	}
	report.Took = time.Since(report.Started)
	return report, nil
}

// notBroadcast has the broadcast fail: what else was found is worth a report.
func (r *Report) notBroadcast(err error) {
	for _, s := range r.Services {
		if result := s.of(broadcastName); result.Status != Skipped {
			result.Status, result.Violations = Failed, append(result.Violations, "NOT INJECTED "+err.Error())
		}
	}
}

func (o *Options) wants(name string) bool {
	return len(o.Only) == 0 || slices.Contains(o.Only, name)
}

func (o *Options) tell(step, within string) {
	if o.Progress != nil {
		o.Progress(step, within)
	}
}

// runService runs the checklist of one service.
func runService(ctx context.Context, a *Adapter, o Options, several bool) (*Service, error) {
	s := &Service{Name: a.Name, Language: a.Language, Adapter: a.file}
	began := time.Now()
	o.tell(a.Name+": starts", "")
	b, err := newBench(ctx, a, o)
	if err != nil {
		return nil, ofAdapter(a, err)
	}
	defer b.close()
	if err := b.probe(); err != nil {
		return nil, ofAdapter(a, err)
	}
	if err := b.start(ctx); err != nil {
		return nil, ofAdapter(a, err)
	}
	if err := b.ask(ctx); err != nil {
		return nil, ofAdapter(a, err)
	}
	var trials []*trial
	for i := range faults {
		f := &faults[i]
		if !o.wants(f.Name) {
			continue
		}
		result := &Result{Fault: f.Name, Line: f.Line, Status: Passed}
		s.Results = append(s.Results, result)
		if reason := b.skips(f, several); reason != "" {
			result.Status, result.Reason = Skipped, reason
			continue
		}
		if f.inject == nil {
			continue // the broadcast is of all services
		}
		o.tell(a.Name+": "+f.Name, "")
		t := b.newTrial(result)
		if err := t.run(ctx, f); err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	b.look(ctx, trials)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, r := range s.Results {
		r.Violations = brief(r.Violations)
	}
	s.Took = time.Since(began)
	return s, nil
}

// probe makes each message once, so that a mistake in one is told at once.
func (b *bench) probe() error {
	for place, m := range b.adapter.messages() {
		if _, err := b.maker.make(m); err != nil {
			return &placeError{place, err}
		}
	}
	return nil
}

// skips says why a fault is not injected.
func (b *bench) skips(f *fault, several bool) string {
	if reason := b.adapter.Skip[f.Name]; reason != "" {
		return reason
	}
	if f.Name == broadcastName {
		if b.adapter.Broadcast == nil {
			return "the adapter has no broadcast: a message that other services consume too"
		}
		return without(several, "it takes the adapters of the other services too: idem faults one.yaml two.yaml")
	}
	return f.lacks(b.adapter, &b.options)
}

func (b *bench) newTrial(result *Result) *trial {
	return &trial{bench: b, result: result, begun: time.Now(), ends: map[string]ending{}, patience: b.adapter.Patience.Duration}
}

// run injects the fault and judges. What goes wrong with it is the fault's result; the error is that it was
// interrupted.
func (t *trial) run(ctx context.Context, f *fault) error {
	defer func() { t.result.Took = time.Since(t.begun) }()
	err := f.inject(ctx, t)
	if err == nil && t.result.Status != Skipped {
		err = t.judge(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		kind := "NOT INJECTED"
		if errors.Is(err, errPatience) {
			kind = "NOT QUIET"
		}
		t.violate(kind, "%v", err)
		// What is seen so far is judged all the same: it may say why.
		if err := t.judge(ctx); err != nil && ctx.Err() == nil {
			t.violate("NOT JUDGED", "%v", err)
		}
	}
	t.conclude()
	// The next fault begins with one instance, and one that is broken is not the next fault's.
	if _, err := t.one(ctx); err != nil && ctx.Err() == nil {
		t.violate("NOT STARTED", "%v", err)
		t.conclude()
	}
	return ctx.Err()
}

func (t *trial) conclude() {
	if len(t.result.Violations) > 0 {
		t.result.Status = Failed
		t.result.Log = t.lastLog()
	}
}

// kindOf is the capitals that a violation begins with.
func kindOf(violation string) string {
	words := strings.Fields(violation)
	n := slices.IndexFunc(words, func(word string) bool {
		return word != strings.ToUpper(word) || strings.ContainsAny(word, ":0123456789")
	})
	return strings.Join(words[:max(n, 1)], " ")
}

// brief leaves the first few violations of a kind.
func brief(violations []string) (few []string) {
	const most = 3
	count := map[string]int{}
	var kinds []string
	for _, v := range violations {
		kind := kindOf(v)
		if count[kind]++; count[kind] <= most {
			few = append(few, v)
		} else if count[kind] == most+1 {
			kinds = append(kinds, kind)
		}
	}
	for _, kind := range kinds {
		few = append(few, fmt.Sprintf("%s %d more", kind, count[kind]-most))
	}
	return few
}

// lastLog is the end of what the service has said.
func (b *bench) lastLog() string {
	if len(b.service) == 0 {
		return ""
	}
	return b.service[len(b.service)-1].tail(20)
}

// skip says that the fault cannot be injected after all.
func (t *trial) skip(reason string) { t.result.Status, t.result.Reason = Skipped, reason }

func (t *trial) progress(within string) { t.options.tell(t.adapter.Name+": "+t.result.Fault, within) }

// look looks at all messages once more, at the end: an effect may come a second time when nobody looks.
func (b *bench) look(ctx context.Context, trials []*trial) {
	for _, t := range trials {
		if t.result.Fault == "database-failover" {
			continue // its database is gone
		}
		effects, err := b.effects(ctx, t.messages)
		if err != nil {
			t.violate("NOT JUDGED", "once more at the end: %v", err)
			t.conclude()
		}
		for _, m := range t.messages {
			if n := effects[m.key]; n > 1 {
				t.addOnce(fmt.Sprintf("TWICE %s: %d effects", m.key, n))
				t.conclude()
			}
		}
	}
}
