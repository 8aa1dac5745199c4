package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/deadletter"
	"github.com/idem-spec/idem/runtime/go/store"
)

// runTopic redrives from a topic.
func (f *redriveFlags) runTopic(ctx context.Context, std streams, args []string) error {
	filter, err := f.topicFilter(args)
	if err != nil {
		return err
	}
	repair, schema, err := f.repair(ctx)
	if err != nil {
		return err
	}
	s, err := f.openOne(ctx, !f.dryRun)
	if err != nil {
		return err
	}
	defer s.Close()
	t, err := f.deadTopic.open(f.place, f.scope, !f.dryRun)
	if err != nil {
		return err
	}
	defer func() { _ = t.broker.Close() }()
	t.records = s
	letters, skipped, err := f.topicLetters(ctx, std, t, filter, args)
	if err != nil {
		return err
	}
	sample := func() error { return topicSheet.sample(std, f.json(), "", letters, len(letters)) }
	if repair != nil { // of one id
		changed, err := f.checkRepair(std, schema, &letters[0], repair)
		if err != nil {
			return failf("%w: nothing was changed", err)
		}
		j := topicLetterOf(&letters[0])
		j.Repair = changed
		sample = func() error { return f.showRepair(std, &topicSheet, &letters[0], j, changed) }
	}
	tooOld := 0
	chosen := map[string]bool{}
	for i := range letters {
		chosen[placeOf(&letters[i])] = true
		if deadletter.TooOld(letters[i].Reason) {
			tooOld++
		}
	}
	count, stop, err := f.previewRedrive(std, len(letters), tooOld, sample)
	if stop || err != nil {
		return err
	}
	name := cmp.Or(f.campaign, time.Now().UTC().Format("20060102T150405.000"))
	selected := f.letterFilter.text()
	if len(args) > 0 {
		selected = "ids " + placesOf(letters)
	}
	target := f.targetOf(&selection{target: fmt.Sprintf("topic %s %s name=%s", f.deadTopic.topic, selected, name)})
	c := change{
		command: "dlq redrive", what: fmt.Sprintf("redrive %s of %s", counted(count, "dead letter"), f.deadTopic.topic), target: target, count: count, again: "--name " + name,
	}
	var report deadletter.Report
	err = f.carryOut(ctx, std, s, c, func() (int64, error) {
		report, err = deadletter.FromTopic(ctx, t.broker, s, deadletter.TopicConfig{
			Config: deadletter.Config{Limit: -1, Rate: f.rate, Repair: repair, AllowSecondEffect: f.secondEffect, Log: slog.New(slog.DiscardHandler)},
			Scope:  t.scope, Origin: t.origin, Name: name, Filter: filter,
			Select: func(d *store.DeadLetter) bool { return chosen[placeOf(d)] },
		})
		report.Skipped += int64(skipped)
		return report.Redriven, err
	})
	if err != nil {
		return err
	}
	return f.tell(std, report)
}

// topicLetters are those that are selected, and how many of the ids are done already.
func (f *redriveFlags) topicLetters(ctx context.Context, std streams, t *topicLetters, filter store.DeadLetterFilter, args []string) (letters []store.DeadLetter, skipped int, err error) {
	if len(args) > 0 {
		return f.topicByID(ctx, std, t, args)
	}
	letters, err = t.recent(ctx, filter, f.max+1)
	switch {
	case err != nil:
		return nil, 0, topicFailed(ctx, err)
	case len(letters) > f.max:
		return nil, 0, f.tooMany(len(letters), "dead letters", time.Now(), nil)
	case len(letters) == 0:
		return nil, 0, noneOf("dead letter", f.letterFilter.text(), t.whyNone(ctx, &f.letterFilter))
	}
	return letters, 0, nil
}

// topicByID are those of places, without those that had another life since, or have succeeded.
func (f *redriveFlags) topicByID(ctx context.Context, std streams, t *topicLetters, args []string) (letters []store.DeadLetter, skipped int, err error) {
	if len(args) > f.max {
		return nil, 0, failf("%d ids, and --max is %d: nothing was changed", len(args), f.max)
	}
	slices.Sort(args)
	var done []string
	for _, place := range slices.Compact(args) {
		d, err := t.at(ctx, place)
		if err != nil {
			return nil, 0, topicFailed(ctx, err)
		}
		if d == nil {
			return nil, 0, failf("there is no dead letter %s in %s: nothing was changed", place, t.topic)
		}
		left, err := t.waiting(ctx, []store.DeadLetter{*d}, false)
		if err != nil {
			return nil, 0, topicFailed(ctx, err)
		}
		if len(left) == 0 {
			done = append(done, place)
		}
		letters = append(letters, left...)
	}
	skip(std, "redriven or succeeded already, and skipped", done...)
	if len(letters) == 0 {
		return nil, 0, failf("nothing is left to do: nothing was changed")
	}
	return letters, len(done), nil
}

// topicFilter is what is selected, and nothing that comes from now on.
func (f *redriveFlags) topicFilter(args []string) (store.DeadLetterFilter, error) {
	var none store.DeadLetterFilter
	for _, place := range args {
		if _, _, err := placeIn(place); err != nil {
			return none, err
		}
	}
	if err := f.check(args); err != nil {
		return none, err
	}
	filter, err := f.filter()
	if err != nil {
		return none, err
	}
	if filter.Until.IsZero() {
		filter.Until = time.Now()
	}
	return filter, checkTopicFilter(&filter)
}
