package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/wait"
)

// Grow moves a topic to a new one with more partitions, and keeps the order within each key.
//
// Partitions that are added to a topic move keys to other partitions while older messages of theirs are
// still to be read where they were, so that two consumers handle one key at once. Here the keys move with
// the topic: nobody reads the new one before everything of the old one is done.
//
//	check   the groups are all that read the old topic, and none reads the new one yet
//	create  the new topic, and its retry and dead-letter topics, configured as the old ones are
//	fence   the old topic takes no more messages, whoever sends them
//	outbox  no message for the old topic is left in the outbox: now producers may write to the new one
//	drain   each group has read to the end, and no retry, no parked message and no lane is left
//	done    each group begins the new topic at its first message: now consumers may read it
//
// Each step can be run again: Run goes on where it was stopped, by State. An alias from the old name to the
// new one, in the configurations of relay, scheduler and redriver, brings what comes later, such as a dead
// letter that is redriven, to the new topic.
type Grow struct {
	Broker *Broker
	// Old is moved to New, which gets Partitions, more than Old has.
	Old, New   string
	Partitions int32
	// Groups are all that read Old.
	Groups []GrowGroup
	// Ignore are groups that have read Old and shall not hold the move up: nobody runs them any more.
	Ignore []string
	// Tables counts what databases have left for the topic. A nil one says that there are none.
	Tables GrowTables
	// State is where the move is; Save is called with it after each step. The zero State begins.
	State GrowState
	Save  func(GrowState) error
	// Report is told what happens, and what a person has to do. It may be nil.
	Report func(text string)
	// Poll is the time between two looks at what is left. Default 2 s.
	Poll time.Duration
	// Settle is how long the fenced topic has to stay as it is. Default 2 s.
	Settle time.Duration
}

// GrowGroup is a group that reads the old topic.
type GrowGroup struct {
	Name string
	// Scope is that of its dedup records, which names its retry topic. Default: Name.
	Scope string
	// DelayGroup is the group of the forwarder of its delay topics, where it has any. Default "<Scope>.delay".
	DelayGroup string
}

// GrowTables counts rows.
type GrowTables interface {
	// Outbox is how many messages for the topics are not sent.
	Outbox(ctx context.Context, topics []string) (int64, error)
	// Retries is how many rows there are of msg_retry for the scopes that came from the topics or go to them,
	// parked ones too, and how many lanes of the topics.
	Retries(ctx context.Context, topics, scopes []string) (rows, lanes int64, err error)
}

// GrowError says that the move would break the order, or cannot be done, and why.
type GrowError struct{ Reason string }

// Error is the reason.
func (e *GrowError) Error() string { return e.Reason }

func refuse(format string, args ...any) error { return &GrowError{fmt.Sprintf(format, args...)} }

// Run makes all steps that are left.
func (g *Grow) Run(ctx context.Context) error {
	if err := g.prepare(); err != nil {
		return err
	}
	for g.State.Step != StepDone {
		next := g.State.Step.next()
		if err := g.run(ctx, next); err != nil {
			return fmt.Errorf("move %s to %s: %s: %w", g.Old, g.New, next, g.Broker.explain(err))
		}
		g.State.Step = next
		if err := g.save(); err != nil {
			return err
		}
	}
	g.report("%s has moved to %s. Start the consumers on %s. Keep an alias %s=%s where retries, dead letters and the outbox are published, as long as there are any of %s. Delete %s when its retention is over.", g.Old, g.New, g.New, g.Old, g.New, g.Old, g.Old)
	return nil
}

func (g *Grow) run(ctx context.Context, step GrowStep) error {
	// Who reads the new topic too early breaks the order, whatever the step.
	if err := g.check(ctx); err != nil {
		return err
	}
	switch step {
	case StepCreated:
		return g.create(ctx)
	case StepFenced:
		return g.fence(ctx)
	case StepSent:
		return g.sent(ctx)
	case StepDrained:
		return g.drain(ctx)
	case StepDone:
		return g.finish(ctx)
	}
	return fmt.Errorf("there is no step %q", step)
}

// Plan checks, and says what Run would do. It changes nothing.
func (g *Grow) Plan(ctx context.Context) ([]string, error) {
	if err := g.prepare(); err != nil {
		return nil, err
	}
	if g.State.Step == StepDone {
		return nil, nil
	}
	if err := g.check(ctx); err != nil {
		return nil, fmt.Errorf("move %s to %s: %w", g.Old, g.New, g.Broker.explain(err))
	}
	counts, err := g.Broker.Partitions(ctx, g.Old)
	if err != nil {
		return nil, err
	}
	companions, err := g.companions(ctx)
	if err != nil {
		return nil, err
	}
	var plan []string
	add := func(step GrowStep, format string, args ...any) {
		if g.State.Step.before(step) {
			plan = append(plan, fmt.Sprintf(format, args...))
		}
	}
	add(StepCreated, "create %s with %d partitions; %s has %d", g.New, g.Partitions, g.Old, counts[g.Old])
	for _, c := range companions {
		add(StepCreated, "create %s with %d partitions, as %s", c.to, c.partitions, c.from)
	}
	add(StepFenced, "fence %s: it takes no more messages (max.message.bytes=%d)", g.Old, fenceLimit)
	if g.Tables != nil {
		add(StepSent, "wait until the outbox has no message for %s", g.Old)
	}
	add(StepSent, "then producers may write to %s", g.New)
	for _, group := range g.Groups {
		add(StepDrained, "wait until group %s has read %s to the end, and its retries are done", group.Name, g.Old)
	}
	add(StepDone, "let each group begin %s at its first message; then consumers may read it", g.New)
	return plan, nil
}

// Undo takes the fence away, as long as nothing is in the new topic. The new topic stays, empty.
func (g *Grow) Undo(ctx context.Context) error {
	if err := g.prepare(); err != nil {
		return err
	}
	if g.State.Step == StepDone {
		return refuse("%s has moved already: move %s back by another name", g.Old, g.New)
	}
	empty, err := g.empty(ctx, g.New)
	switch {
	case errors.Is(err, broker.ErrUnknownTopic):
	case err != nil:
		return fmt.Errorf("undo the move of %s: %w", g.Old, g.Broker.explain(err))
	case !empty:
		return refuse("%s has messages already: taking %s into use again would put newer messages behind them", g.New, g.Old)
	}
	if err := g.unfence(ctx); err != nil {
		return fmt.Errorf("undo the move of %s: %w", g.Old, g.Broker.explain(err))
	}
	g.State = GrowState{}
	return g.save()
}

// prepare checks what was asked for.
func (g *Grow) prepare() error {
	g.Poll = cmp.Or(g.Poll, 2*time.Second)
	g.Settle = cmp.Or(g.Settle, 2*time.Second)
	for _, topic := range []string{g.Old, g.New} {
		if err := broker.CheckTopic(topic); err != nil {
			return err
		}
	}
	switch {
	case g.Old == g.New:
		return refuse("the new topic has the old one's name: it needs another one, such as %s-2", g.Old)
	case len(g.Groups) == 0:
		return refuse("no group: name all that read %s", g.Old)
	}
	var names []string
	for i := range g.Groups {
		g.Groups[i].Scope = cmp.Or(g.Groups[i].Scope, g.Groups[i].Name)
		g.Groups[i].DelayGroup = cmp.Or(g.Groups[i].DelayGroup, g.Groups[i].Scope+".delay")
		names = append(names, g.Groups[i].Name)
	}
	slices.Sort(names)
	return g.State.adopt(GrowState{Old: g.Old, New: g.New, Partitions: g.Partitions, Groups: names})
}

func (g *Grow) save() error {
	g.State.Updated = time.Now().UTC()
	if g.Save == nil {
		return nil
	}
	if err := g.Save(g.State); err != nil {
		return fmt.Errorf("save the state of the move: %w", err)
	}
	return nil
}

func (g *Grow) report(format string, args ...any) {
	if g.Report != nil {
		g.Report(fmt.Sprintf(format, args...))
	}
}

func (g *Grow) scopes() []string {
	var scopes []string
	for _, group := range g.Groups {
		scopes = append(scopes, group.Scope)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// until looks again and again, until nothing is left. It tells what is left when that changes.
func (g *Grow) until(ctx context.Context, look func(context.Context) (left string, err error)) error {
	told, failures := "", 0
	for {
		left, err := look(ctx)
		switch {
		case err == nil && left == "":
			return nil
		case err == nil:
			failures = 0
			if left != told {
				g.report("waiting: %s", left)
				told = left
			}
		default:
			var refused *GrowError
			if errors.As(err, &refused) || ctx.Err() != nil || hopeless(err) {
				return err
			}
			// A broker may be away for a while, and so may a database.
			if failures++; failures == 1 {
				g.report("looking again: %v", err)
			}
			g.Broker.refresh()
		}
		if !wait.For(ctx, g.Poll) {
			return ctx.Err()
		}
	}
}
