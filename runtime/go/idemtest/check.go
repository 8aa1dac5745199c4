package idemtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/internal/seam"
)

// Case is what Check checks. Handlers or Setup, Messages and Effects are needed. The other fields are those of
// Config.
type Case struct {
	Handlers []consumer.Handler
	Setup    func(w *World) []consumer.Handler
	Store    Store
	Consumer consumer.Config
	Limit    time.Duration
	// Messages are what is published; a few are enough, since each fault happens to each of them.
	Messages []broker.Message
	// Effects is where the handler's effects can be seen.
	Effects Effects
	// InOrder leaves out the schedule in which the messages come in reverse: for handlers whose effects depend on the
	// order, and whose producer keeps it.
	InOrder bool
}

// Finding is something wrong.
type Finding struct {
	// Schedule is what was done to the handler.
	Schedule string
	// Effect is what happened Got times, and Want times where nothing goes wrong. Empty where the finding is none of
	// an effect.
	Effect    string
	Want, Got int
	// Detail says it in words.
	Detail string
}

// String is the finding in a sentence.
func (f Finding) String() string { return f.Detail + ": " + f.Schedule }

// Check runs the messages once as they are, to see which effects they have, and then again and again: each message
// twice; in reverse; and with the process killed, failing or stopped at every point of every message, the first time
// that it is there, or the first two times. After each it looks at the effects: each has to be there as often as
// where nothing went wrong, nothing more, and no message may end as a dead letter that did not before.
func Check(t *testing.T, c Case) {
	t.Helper()
	found := Find(t, c)
	const most = 10
	for i, f := range found {
		if i == most {
			t.Errorf("idemtest: and %d more", len(found)-most)
			break
		}
		t.Errorf("idemtest: %s", f)
	}
}

// Find is Check, and gives what it finds rather than failing t: of each point and effect the first finding.
func Find(t *testing.T, c Case) []Finding {
	t.Helper()
	if c.Effects == nil || len(c.Messages) == 0 {
		t.Fatal("idemtest: a Case needs Messages, and Effects: a *Recorder, a Query, Published or an EffectsFunc")
	}
	k := &checker{t: t, c: c, seen: make(map[string]bool)}
	k.want = k.world(schedule{name: "as they come", messages: c.Messages})
	if k.want.err != nil {
		t.Fatalf("idemtest: with no fault at all: %v", k.want.err)
	}
	if len(k.want.effects) == 0 {
		t.Fatal("idemtest: the messages have no effect that Effects sees, so that none can be missed: look at Effects, and at the event types of handlers and messages")
	}
	k.orders()
	for _, point := range Points() {
		for _, key := range k.keys() {
			k.faults(point, key)
		}
	}
	return k.found
}

// schedule is one way that things go.
type schedule struct {
	name     string
	messages []broker.Message
	faults   []Fault
}

// outcome is what came of a schedule.
type outcome struct {
	effects map[string]int
	letters map[string]string // reason by key
	hits    int
	err     error
}

type checker struct {
	t     *testing.T
	c     Case
	want  outcome
	seen  map[string]bool
	found []Finding
}

func (k *checker) keys() (keys []string) {
	for i := range k.c.Messages {
		keys = append(keys, seam.KeyOf(k.c.Messages[i].Headers))
	}
	slices.Sort(keys)
	return slices.DeleteFunc(slices.Compact(keys), func(key string) bool { return key == "" })
}

func (k *checker) twice() []broker.Message { return slices.Concat(k.c.Messages, k.c.Messages) }

// orders are the schedules without a fault.
func (k *checker) orders() {
	k.t.Helper()
	k.compare("twice", schedule{name: "each message came twice", messages: k.twice()})
	if k.c.InOrder || len(k.c.Messages) < 2 {
		return
	}
	reverse := slices.Clone(k.c.Messages)
	slices.Reverse(reverse)
	k.compare("reverse", schedule{name: "the messages came in reverse", messages: reverse})
}

// faults are the schedules with a fault at a point of a message. Where nothing is ever at the point, one is enough.
func (k *checker) faults(at Point, key string) {
	k.t.Helper()
	for _, s := range []struct {
		fault Fault
		twice bool
	}{
		{Fault{At: at, Kind: Kill, Key: key}, false},
		{Fault{At: at, Kind: Kill, Key: key, Times: 2}, true},
		{Fault{At: at, Kind: Fail, Key: key}, false},
		{Fault{At: at, Kind: Pause, Key: key}, true},
	} {
		of := schedule{name: s.fault.String(), messages: k.c.Messages, faults: []Fault{s.fault}}
		if at == BeforeRepublish || at == AfterRepublish { // nothing is, unless something has failed before
			of.faults = append(of.faults, Fault{At: BeforeBusinessCommit, Kind: Fail, Key: key}, Fault{At: AfterClaim, Kind: Kill, Key: key})
		}
		if s.twice {
			of.messages, of.name = k.twice(), of.name+", each message came twice"
		}
		if k.compare(string(at), of).hits == 0 {
			return
		}
	}
}

// compare runs a schedule, and finds what is other than it should be. of is what findings are told once for.
func (k *checker) compare(of string, s schedule) outcome {
	k.t.Helper()
	got := k.world(s)
	add := func(f Finding) {
		f.Schedule = s.name
		if once := of + "\x00" + f.Effect + "\x00" + fmt.Sprint(f.Got > f.Want); !k.seen[once] {
			k.seen[once] = true
			k.found = append(k.found, f)
		}
	}
	if got.err != nil {
		add(Finding{Detail: got.err.Error()})
		return got
	}
	all := maps.Clone(k.want.effects)
	maps.Copy(all, got.effects)
	for _, effect := range slices.Sorted(maps.Keys(all)) {
		if want, n := k.want.effects[effect], got.effects[effect]; n != want {
			add(Finding{Effect: effect, Want: want, Got: n, Detail: describe(effect, want, n)})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got.letters)) {
		if _, ok := k.want.letters[key]; !ok {
			add(Finding{Effect: "dead letter of " + key, Got: 1, Detail: fmt.Sprintf("message %s became a dead letter (%s)", key, got.letters[key])})
		}
	}
	return got
}

func describe(effect string, want, got int) string {
	switch {
	case got == 0:
		return fmt.Sprintf("effect %q got lost", effect)
	case want == 0:
		return fmt.Sprintf("effect %q happened %s, and does not where nothing goes wrong", effect, times(got))
	case got < want:
		return fmt.Sprintf("effect %q happened %s in place of %s", effect, times(got), times(want))
	}
	return fmt.Sprintf("effect %q happened %s in place of %s (what a handler does outside its transaction is not taken back with it: "+
		"do it in the transaction, or hand guard.KeyOf(ctx) on to whoever does it)", effect, times(got), times(want))
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprint(n, " times")
}

// world runs a schedule in a world of its own. What is wrong with the case is said outside of the bubble, where it is
// said of the line that called Check.
func (k *checker) world(s schedule) (o outcome) {
	k.t.Helper()
	var wrong error
	synctest.Test(k.t, func(t *testing.T) {
		if r, ok := k.c.Effects.(interface{ Reset() }); ok {
			r.Reset()
		}
		w, err := newWorld(t, Config{Handlers: k.c.Handlers, Setup: k.c.Setup, Store: k.c.Store, Consumer: k.c.Consumer, Limit: k.c.Limit})
		if err != nil {
			wrong = err
			return
		}
		before, err := k.c.Effects.List(w)
		if err != nil {
			wrong = fmt.Errorf("effects: %w", err)
			return
		}
		for _, f := range s.faults {
			w.Arm(f)
		}
		w.Publish(s.messages...)
		if err := w.run(); err != nil {
			o.err = fmt.Errorf("%w%s", err, tail(w.Log()))
			return
		}
		after, err := k.c.Effects.List(w)
		if err != nil {
			wrong = fmt.Errorf("effects: %w", err)
			return
		}
		o.effects = make(map[string]int)
		for _, effect := range after {
			o.effects[effect]++
		}
		for _, effect := range before {
			if o.effects[effect]--; o.effects[effect] == 0 {
				delete(o.effects, effect)
			}
		}
		o.letters = w.letters()
		o.hits = w.faultHits(0)
	})
	if wrong != nil {
		k.t.Fatalf("idemtest: %v", wrong)
	}
	return o
}

// faultHits is how often one of the faults has happened.
func (w *World) faultHits(i int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i >= len(w.faults) {
		return 0
	}
	return w.faults[i].hits
}

// tail is the last lines of a log.
func tail(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if lines[0] == "" {
		return ""
	}
	return "; the last it logged:\n\t" + strings.Join(lines[max(0, len(lines)-5):], "\n\t")
}
