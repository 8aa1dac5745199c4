package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/idem-spec/idem/internal/operate/connect"
	"github.com/idem-spec/idem/internal/operate/show"
	"github.com/idem-spec/idem/runtime/go/store"
)

// runTopic lists the dead letters of a topic.
func (f *dlqLsFlags) runTopic(ctx context.Context, std streams, filter store.DeadLetterFilter) error {
	if f.after != 0 {
		return errors.New("--after is an id of the table: --until goes on in a topic")
	}
	if err := errors.Join(checkTopicFilter(&filter), f.operateFlags.check()); err != nil {
		return err
	}
	t, err := f.deadTopic.open(f.place, f.scope, false)
	if err != nil {
		return err
	}
	defer func() { _ = t.broker.Close() }()
	closeStore, err := f.recordsFor(ctx, std, t)
	if err != nil {
		return err
	}
	defer closeStore()
	shown := map[string]bool{}
	return f.watchFlags.run(ctx, std, func() error {
		letters, err := t.recent(ctx, filter, f.limit+1)
		if err != nil {
			return topicFailed(ctx, err)
		}
		more := len(letters) > f.limit
		letters = letters[:min(len(letters), f.limit)]
		switch {
		case len(letters) == 0:
			topicSheet.tellNone(std, &f.listFlags, func() string { return t.whyNone(ctx, &f.letterFilter) })
			return nil
		case f.json():
			return f.topicLines(std, letters, shown)
		}
		show.Table(std.out, topicSheet.head, topicSheet.rows(letters))
		if more {
			fmt.Fprintf(std.err, "there are more: --until %s\n", letters[len(letters)-1].CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
		return nil
	})
}

// recordsFor opens the one database that there may be, which knows what was redriven.
func (f *dlqLsFlags) recordsFor(ctx context.Context, std streams, t *topicLetters) (func(), error) {
	target, err := connect.Resolve(f.place)
	if err != nil {
		return nil, err
	}
	if len(target.Stores) != 1 {
		if !f.redriven {
			fmt.Fprintln(std.err, "note: without the service's database (--dsn, --store) those that were redriven are listed too")
		}
		return func() {}, nil
	}
	s, err := target.Stores[0].Open(ctx, true)
	if err != nil {
		return nil, unreached(ctx, err, target.Stores[0].DSN)
	}
	t.records = s
	return s.Close, nil
}

func (f *dlqLsFlags) topicLines(std streams, letters []store.DeadLetter, shown map[string]bool) error {
	for i := range letters {
		place := placeOf(&letters[i])
		if shown[place] {
			continue
		}
		shown[place] = f.watch
		if err := show.Line(std.out, topicLetterOf(&letters[i])); err != nil {
			return err
		}
	}
	return nil
}

var topicSheet = sheet[store.DeadLetter]{
	head: []string{"ID", "AGE", "SCOPE", "EVENT TYPE", "KEY", "REASON"},
	none: "no dead letters",
	row: func(d *store.DeadLetter) []string {
		row := letterRow(d)
		return append([]string{placeOf(d)}, append(row[1:5], row[6])...)
	},
	json: func(_ string, d *store.DeadLetter) any { return topicLetterOf(d) },
}

// topicLetterJSON is a dead letter of a topic: its id is its place there, and it has no outcome.
type topicLetterJSON struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome,omitempty"`
	letterJSON
}

func topicLetterOf(d *store.DeadLetter) topicLetterJSON {
	return topicLetterJSON{ID: placeOf(d), letterJSON: letterOf("", d)}
}
