package protocol

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// most is how many states a search may visit. The largest world has about half of them.
const most = 3_000_000

// worlds are searched under all rules. Faults, holds and redrives multiply each other, so each world has
// much of one kind and little of another. small is for the race detector.
var worlds = []struct {
	world
	small uint8 // faults
}{
	{world{name: "two copies, holds", copies: [2]uint8{2, 0}, followUps: true, schedulers: 1, faults: 2, redrives: 1, maxRetry: 1, maxHold: 1}, 1},
	{world{name: "two copies, redriven", copies: [2]uint8{2, 0}, followUps: true, schedulers: 1, faults: 2, redrives: 1, maxRetry: 1, maxHold: 0}, 1},
	{world{name: "three faults", copies: [2]uint8{1, 0}, followUps: true, schedulers: 1, faults: 3, redrives: 0, maxRetry: 1, maxHold: 1}, 2},
	{world{name: "two schedulers", copies: [2]uint8{1, 0}, followUps: true, schedulers: 2, faults: 2, redrives: 1, maxRetry: 1, maxHold: 0}, 1},
	{world{name: "publish first", copies: [2]uint8{2, 0}, faults: 2, redrives: 1, maxRetry: 1, maxHold: 1}, 1},
	{world{name: "publish first, three faults", copies: [2]uint8{1, 0}, faults: 3, redrives: 1, maxRetry: 1, maxHold: 0}, 2},
	{world{name: "block", copies: [2]uint8{2, 0}, order: block, followUps: true, schedulers: 1, faults: 2, redrives: 1, maxRetry: 1, maxHold: 1}, 1},
	{world{name: "block, two retries", copies: [2]uint8{1, 0}, order: block, followUps: true, schedulers: 1, faults: 2, redrives: 1, maxRetry: 2, maxHold: 1}, 1},
	{world{name: "block, publish first", copies: [2]uint8{2, 0}, order: block, faults: 2, redrives: 1, maxRetry: 1, maxHold: 1}, 1},
	{world{name: "park, two faults", copies: [2]uint8{1, 1}, order: park, followUps: true, schedulers: 1, faults: 2, redrives: 0, maxRetry: 1, maxHold: 0}, 1},
	{world{name: "park, redriven", copies: [2]uint8{1, 1}, order: park, followUps: true, schedulers: 1, faults: 1, redrives: 1, maxRetry: 1, maxHold: 0}, 1},
	{world{name: "park, holds", copies: [2]uint8{1, 1}, order: park, followUps: true, schedulers: 1, faults: 1, redrives: 0, maxRetry: 1, maxHold: 1}, 1},
	{world{name: "park, two copies", copies: [2]uint8{2, 1}, order: park, followUps: true, schedulers: 1, faults: 1, redrives: 0, maxRetry: 1, maxHold: 0}, 0},
	{world{name: "park, two copies, redriven, no fault", copies: [2]uint8{2, 1}, order: park, followUps: true, schedulers: 1, faults: 0, redrives: 1, maxRetry: 1, maxHold: 1}, 0},
}

func worldOf(t *testing.T, name string) world {
	t.Helper()
	for _, w := range worlds {
		if w.name == name {
			return w.world
		}
	}
	t.Fatalf("no world %q", name)
	return world{}
}

func TestRulesHoldInEveryState(t *testing.T) {
	t.Parallel()
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			if raced || testing.Short() {
				w.faults = w.small
			}
			found, states, err := run(w.world, rules{}, most)
			t.Logf("%d states", states)
			if err != nil {
				t.Fatalf("after %d states: %v", states, err)
			}
			if found != nil {
				t.Fatal(found)
			}
		})
	}
}

// mutations are rules taken out, one at a time, each with the world that shows what it is for, and what
// goes wrong.
var mutations = []struct {
	name  string
	rules rules
	world string
	want  string
}{
	{"no fence", rules{noFence: true}, "two copies, redriven", "the effect of A happened twice"},
	{"a crash loop without a fence", rules{crashLoopUnfenced: true}, "three faults", "A has 1 effects, and its record says success false"},
	{"rows unique by key and count", rules{uniqueByCount: true}, "two copies, redriven", "A is lost"},
	{"a write that is behind replaces a row", rules{lowerReplaces: true}, "two copies, redriven", "A is lost"},
	{"a row is marked without its token and position", rules{markWithoutToken: true, markWithoutPosition: true}, "two copies, redriven", "A is lost"},
	{"a row that is raised stays claimed, and is marked without its position", rules{raisedKeepsToken: true, markWithoutPosition: true}, "two copies, redriven", "A is lost"},
	{"a row is removed before it is published", rules{markBeforePublishing: true}, "two copies, redriven", "A is lost"},
	{"FAILED before its row is durable", rules{stateFirst: true}, "two copies, redriven", "A is lost"},
	{"FAILED before its delivery is published", rules{stateFirst: true}, "publish first", "A is lost"},
	{"the position is raised while held in place", rules{raisedInPlace: true}, "block", "A is lost"},
	{"the lease is ignored", rules{leaseIgnored: true}, "two copies, redriven", "two handlers run A under a live lease"},
	{"the owner is ignored", rules{ownerIgnored: true}, "two copies, redriven", "two handlers run A under a live lease"},
	{"no delivery is stale", rules{noStale: true}, "two copies, redriven", "A succeeded, and is a dead letter too"},
	{"the redrive count is ignored", rules{noRedriveCompare: true}, "two copies, redriven", "A is lost"},
	{"a hold costs an attempt", rules{holdCostsAttempt: true}, "two copies, holds", "A is a crash loop after 1 crashes"},
	{"a dead letter is marked before its redrive is durable", rules{redriveMarksFirst: true}, "two copies, redriven", "A is lost"},
	{"parked without a second look", rules{parkedBlindly: true}, "park, redriven", endless},
	{"the head's own key parks", rules{headParks: true}, "park, redriven", endless},
	{"nothing parks", rules{nothingParks: true}, "park, redriven", "B overtakes A in their lane"},
	{"the head leaves by STALE", rules{staleLeaves: true}, "park, two copies", "B overtakes A in their lane"},
	{"one row of the next head goes", rules{oneRowGoes: true}, "park, two copies", endless},
	{"no sweep", rules{noSweep: true}, "park, two copies", endless},
	{"acknowledged before it is settled", rules{ackedFirst: true}, "two copies, redriven", "A is lost"},
	{"a key in progress is acknowledged", rules{inProgressAcked: true}, "two copies, redriven", "A is lost"},
	{"a lost claim is acknowledged", rules{fencedAcked: true}, "three faults", "A is lost"},
}

func TestEachRuleTakenOutIsFound(t *testing.T) {
	t.Parallel()
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if raced && m.want == endless {
				t.Skip("it takes the whole world to see; the test without the race detector does")
			}
			found, states, err := run(worldOf(t, m.world), m.rules, most)
			if err != nil {
				t.Fatalf("after %d states: %v", states, err)
			}
			if found == nil {
				t.Fatalf("nothing is found in %d states", states)
			}
			t.Logf("%d states: %s", states, found)
			if !strings.HasPrefix(found.what, m.want) {
				t.Errorf("found %q, want %q", found.what, m.want)
			}
		})
	}
}

// Of what a mark compares either part is enough, in worlds of this size; without both a message is lost. The
// rules keep both.
func TestTokenAndPositionOfAMarkStandInForEachOther(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("it takes whole worlds to see; the test without the race detector does")
	}
	for name, r := range map[string]rules{"token": {markWithoutToken: true}, "position": {markWithoutPosition: true}} {
		for _, in := range []string{"two copies, redriven", "two schedulers"} {
			t.Run(name+" alone, "+in, func(t *testing.T) {
				t.Parallel()
				w := worldOf(t, in)
				w.faults = 1
				if found, _, err := run(w, r, most); err != nil || found != nil {
					t.Fatal(found, err)
				}
			})
		}
	}
}

func TestTheLimitIsAFailure(t *testing.T) {
	t.Parallel()
	if found, _, err := run(worldOf(t, "block"), rules{}, 1000); !errors.Is(err, errLimit) || found != nil {
		t.Errorf("got %v, %v", found, err)
	}
}

func TestStatesThatDifferByNamesAreOne(t *testing.T) {
	t.Parallel()
	w := worldOf(t, "two copies, holds")
	a := w.start()
	b := a
	a.workers[0] = worker{phase: running, d: delivery{msg: 1, src: 1}, owner: 1, fence: 1}
	b.workers[1] = worker{phase: running, d: delivery{msg: 1, src: 2}, owner: 5, fence: 9}
	a.records[0] = record{state: 1, fence: 1, owner: 1, attempts: 1, live: true}
	b.records[0] = record{state: 1, fence: 9, owner: 5, attempts: 1, live: true}
	a.normalize()
	b.normalize()
	if a != b {
		t.Errorf("%s\nand\n%s", &a, &b)
	}
	if hashOf(&a) != hashOf(&b) {
		t.Error("their hashes differ")
	}
	b.records[0].live = false
	if hashOf(&a) == hashOf(&b) {
		t.Error("a lease that ended makes no difference")
	}
}

func TestWorldNamesAreTheirOwn(t *testing.T) {
	t.Parallel()
	var names []string
	for _, w := range worlds {
		names = append(names, w.name)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(worlds) {
		t.Error("two worlds have one name")
	}
}
