package checklist

import (
	"context"

	"github.com/idem-spec/idem/internal/lint"
)

// fault is a line of the checklist.
type fault struct {
	// Name is what it is called by, and Line the words of the checklist.
	Name, Line string
	// Lacks says why the adapter cannot have it; empty: it can.
	lacks  func(a *Adapter, o *Options) string
	inject func(ctx context.Context, t *trial) error
}

// Line is a fault as `idem faults --list` shows it.
type Line struct{ Name, Text string }

// Lines are the faults in the order in which they are injected.
func Lines() []Line {
	lines := make([]Line, len(faults))
	for i, f := range faults {
		lines[i] = Line{f.Name, f.Line}
	}
	return lines
}

// Near continues an error about a name that is no fault: "; did you mean …?", or nothing.
func Near(name string) string {
	var names []string
	for _, f := range faults {
		names = append(names, f.Name)
	}
	return lint.DidYouMean(name, names)
}

const (
	broadcastName = "broadcast"
	outageName    = "outage"
)

// faults are all lines. What a fault needs is asked of the adapter, so that one which cannot be injected is skipped
// with its reason.
var faults []fault

func init() { // in a function, since checks of adapters name the faults
	faults = []fault{
		{"duplicate-delivery", "duplicate delivery", nothing, duplicateDelivery},
		{"crash-before-offset-commit", "crash between business commit and offset commit", nothing, crashBeforeOffsetCommit},
		{"unavailable-downstream", "503 and timeouts until the dead letter, delays as computed", needs(hasDownstream, hasLetters), unavailableDownstream},
		{"reversed-order", "reversed order", needs(hasOrder), reversedOrder},
		{broadcastName, "one broadcast message in several services", nothing, nil},
		{"redis-down", "Redis down", needs(hasRedis), redisDown},
		{"decimal-drift", "decimal precision drift through JSON", needs(hasSchema), decimalDrift},
		{"rebalance-in-handler", "rebalance in mid-handler", needs(canHold), rebalanceInHandler},
		{"zombie-worker", "zombie worker after its lease", needs(canHold, hasSignals), zombieWorker},
		{"scheduler-twice", "scheduler twice", needs(hasDownstream), schedulerTwice},
		{"poison-bytes", "poison bytes", needs(hasLetters), poisonBytes},
		{"dead-letters-down", "dead-letter topic down", needs(hasLetters), deadLettersDown},
		{"database-failover", "database failover in mid-transaction", needs(canHold, hasStandby), databaseFailover},
		{"handler-kills-process", "handler that kills its process", needs(canHold, hasLetters), handlerKillsProcess},
		{outageName, "outage of everything downstream", needs(hasAnything), outage},
	}
}

type need func(a *Adapter, o *Options) string

func needs(all ...need) need {
	return func(a *Adapter, o *Options) string {
		for _, lacks := range all {
			if reason := lacks(a, o); reason != "" {
				return reason
			}
		}
		return ""
	}
}

func nothing(*Adapter, *Options) string { return "" }

func hasDownstream(a *Adapter, _ *Options) string {
	return without(a.Downstream != nil, "the adapter has no downstream: its handler calls nothing that could fail")
}

func hasLetters(a *Adapter, _ *Options) string {
	return without(a.DeadLetters != nil, "the adapter has no dead_letters: where they go is not known, so that nothing could be proven")
}

func hasOrder(a *Adapter, _ *Options) string {
	return without(len(a.Order) > 1, "the adapter has no order: the messages of a state machine in their order")
}

func hasRedis(a *Adapter, _ *Options) string {
	return without(a.Redis != nil, "the adapter has no redis")
}

func hasSchema(a *Adapter, o *Options) string {
	return without(a.Message.Type != "" && o.Schema != nil, "the message is bytes without a schema, in which no decimal can be found")
}

func canHold(a *Adapter, _ *Options) string {
	return without(a.Downstream != nil || a.Message.Hold != "", "the adapter has no downstream and no message.hold: its handler cannot be held in the middle")
}

func hasSignals(*Adapter, *Options) string {
	return without(signals, "this system cannot stop a process and let it go on")
}

func hasStandby(a *Adapter, _ *Options) string {
	return without(a.Postgres != nil && a.Postgres.Standby != nil, "the adapter has no postgres.standby, or its url is empty: two servers, with the commands that kill the primary and promote it")
}

func hasAnything(a *Adapter, _ *Options) string {
	return without(a.Downstream != nil || a.Postgres != nil || a.Redis != nil || a.Kafka.Stop != "", "the adapter has nothing downstream that could be away")
}

func without(there bool, reason string) string {
	if there {
		return ""
	}
	return reason
}
