//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idem-spec/idem/runtime/go/internal/plant"
)

// faultKind is what is done, and to what kind of target.
type faultKind string

const (
	kill      faultKind = "kill"      // -9 of a process, which is started again
	pause     faultKind = "pause"     // SIGSTOP of a process for longer than a lease
	rebalance faultKind = "rebalance" // a member joins a group and leaves it
	brokers   faultKind = "brokers"   // kill -9 of one broker, or of two
	database  faultKind = "database"  // restart of PostgreSQL, orderly or by kill -9
	standby   faultKind = "standby"   // the standby is stopped: commits wait for it
	promote   faultKind = "promote"   // the primary is killed, and the standby promoted
	redisKill faultKind = "redis"     // kill -9, and a start without data
	flush     faultKind = "flush"     // FLUSHALL
)

// fault is one entry of a schedule.
type fault struct {
	at     time.Duration // from the begin
	kind   faultKind
	target string
	length time.Duration // until it is taken back
	hard   bool          // of database: kill -9
}

func (f fault) String() string {
	s := fmt.Sprintf("%8s %-9s %s", f.at.Round(10*time.Millisecond), f.kind, f.target)
	if f.length > 0 {
		s += " for " + f.length.String()
	}
	if f.hard {
		s += ", by kill -9"
	}
	return s
}

// plan is what a schedule depends on beside its seed.
type plan struct {
	length   time.Duration
	every    map[faultKind]time.Duration // how often, on average; 0: never
	targets  []string                    // of kill and pause
	promotes bool
}

// fleet are the processes, by role.
func fleet() []string {
	return []string{
		"consumer-plain-1", "consumer-plain-2", "consumer-plain-3", "consumer-tiered-1", "consumer-tiered-2", "consumer-tiered-3",
		"producer-1", "producer-2", "producer-3", "scheduler-1", "scheduler-2", "relay-1", "relay-2", "sampler-1", "redriver-1",
	}
}

// planOf is everything at once; with a planted bug it is what the bug needs to show, and not much else.
func planOf(o *options) plan {
	p := plan{length: o.duration, promotes: o.promotes(), every: map[faultKind]time.Duration{
		kill: 3500 * time.Millisecond, pause: 25 * time.Second, rebalance: 30 * time.Second, brokers: 50 * time.Second,
		database: 60 * time.Second, standby: 90 * time.Second, redisKill: 70 * time.Second, flush: 40 * time.Second,
	}}
	for _, name := range fleet() {
		if name != "sampler-1" { // two of them could write their samples in the wrong order
			p.targets = append(p.targets, name)
		}
	}
	if o.bug == "" {
		return p
	}
	p.targets = slices.DeleteFunc(p.targets, func(name string) bool { return !strings.HasPrefix(name, "consumer") })
	switch o.bug {
	case plant.NoFence, plant.LeaseIgnored:
		p.every = map[faultKind]time.Duration{pause: 7 * time.Second, kill: 20 * time.Second}
	case plant.RepublishUnconfirmed:
		p.every = map[faultKind]time.Duration{brokers: 18 * time.Second}
	default:
		p.every = map[faultKind]time.Duration{kill: 4 * time.Second, flush: 0}
	}
	return p
}

// kinds in the order in which a schedule is made, so that it is the same each time.
var kinds = []faultKind{kill, pause, rebalance, brokers, database, standby, redisKill, flush}

// schedule is all faults of a run, in their order. The same seed and plan give the same one.
func schedule(seed uint64, p plan) []fault {
	var all []fault
	for i, kind := range kinds {
		every := p.every[kind]
		if every == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		// The first one comes within its time, so that a short run has each.
		for at := 2*time.Second + time.Duration(r.Int64N(int64(min(every, p.length/2)))); at < p.length; at += every/2 + time.Duration(r.Int64N(int64(every))) {
			all = append(all, one(r, kind, at, p))
		}
	}
	if p.promotes {
		// Halfway, and without a restart of the database for a while: what is visible is on the standby then.
		at := p.length / 2
		all = slices.DeleteFunc(all, func(f fault) bool {
			return (f.kind == database || f.kind == standby) && f.at > at-45*time.Second && f.at < at+20*time.Second
		})
		all = append(all, fault{at: at, kind: promote, target: "standby:2"})
	}
	slices.SortStableFunc(all, func(a, b fault) int { return int(a.at - b.at) })
	return all
}

func one(r *rand.Rand, kind faultKind, at time.Duration, p plan) fault {
	between := func(a, b time.Duration) time.Duration {
		return (a + time.Duration(r.Int64N(int64(b-a)))).Round(10 * time.Millisecond)
	}
	f := fault{at: at, kind: kind}
	switch kind {
	case kill:
		f.target, f.length = p.targets[r.IntN(len(p.targets))], between(100*time.Millisecond, 2*time.Second)
	case pause:
		consumers := slices.DeleteFunc(slices.Clone(p.targets), func(name string) bool { return !strings.HasPrefix(name, "consumer") && r.IntN(3) > 0 })
		f.target, f.length = consumers[r.IntN(len(consumers))], between(pastLease, pastLease+4*time.Second)
	case rebalance:
		f.target, f.length = []string{plainTopic, tieredTopic}[r.IntN(2)], between(time.Second, 3*time.Second)
	case brokers:
		n := 1 + r.IntN(3)
		f.target, f.length = strconv.Itoa(n), between(3*time.Second, 9*time.Second)
		if r.IntN(3) == 0 {
			f.target += strconv.Itoa(1 + n%3)
		}
	case database:
		f.hard = r.IntN(2) == 0
		f.length = between(10*time.Millisecond, 2*time.Second)
	case standby:
		f.length = between(time.Second, 5*time.Second)
	case redisKill:
		f.length = between(100*time.Millisecond, 4*time.Second)
	}
	return f
}
