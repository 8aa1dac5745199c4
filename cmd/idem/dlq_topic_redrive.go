package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	letters, err := t.recent(ctx, filter, f.max+1)
	switch {
	case err != nil:
		return topicFailed(ctx, err)
	case len(letters) > f.max:
		return failf("more than %d dead letters are selected, which is --max: nothing was changed; narrow the filter, or raise --max", f.max)
	case len(letters) == 0:
		return failf("no dead letter is selected by %s", f.letterFilter.text())
	}
	tooOld := 0
	for i := range letters {
		if deadletter.TooOld(letters[i].Reason) {
			tooOld++
		}
	}
	count, stop, err := f.previewRedrive(std, len(letters), tooOld, func() error { return topicSheet.sample(std, f.json(), "", letters, len(letters)) })
	if stop || err != nil {
		return err
	}
	name := cmp.Or(f.campaign, time.Now().UTC().Format("20060102T150405.000"))
	target := f.targetOf(&selection{target: fmt.Sprintf("topic %s %s name=%s", f.deadTopic.topic, f.letterFilter.text(), name)})
	var report deadletter.Report
	err = f.carryOut(ctx, std, s, change{command: "dlq redrive", what: fmt.Sprintf("redrive %d dead letters of %s", count, f.deadTopic.topic), target: target, count: count, again: "--name " + name},
		func() (int64, error) {
			report, err = deadletter.FromTopic(ctx, t.broker, s, deadletter.TopicConfig{
				Config: deadletter.Config{Limit: -1, Rate: f.rate, AllowSecondEffect: f.secondEffect, Log: slog.New(slog.DiscardHandler)},
				Scope:  t.scope, Origin: t.origin, Name: name, Filter: filter,
			})
			return report.Redriven, err
		})
	if err != nil {
		return err
	}
	return f.tell(std, report)
}

// topicFilter is what is selected, and nothing that comes from now on.
func (f *redriveFlags) topicFilter(args []string) (store.DeadLetterFilter, error) {
	var none store.DeadLetterFilter
	switch {
	case len(args) > 0:
		return none, errors.New("--topic and ids: a topic is redriven by a filter, such as --key")
	case f.payload != "":
		return none, errors.New("--topic and --payload: a payload is repaired in the table alone")
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
