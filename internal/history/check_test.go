package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/idem-spec/idem/internal/history"
)

// sound is a run in which all went well, and some of it by the long way.
func sound() *history.History {
	at := time.Unix(1000, 0)
	return &history.History{
		Produced: []history.Produced{
			{Key: "a1", Lane: "a", Seq: 1, Acknowledged: true},
			{Key: "a2", Lane: "a", Seq: 2, Acknowledged: true},
			{Key: "a3", Lane: "a", Seq: 3, Acknowledged: true},
			{Key: "b1", Acknowledged: true, Mode: history.Idempotent},
			{Key: "c1"}, // the producer died before it knew
			{Key: "d1", Acknowledged: true},
		},
		Calls: []history.Call{
			{Key: "a1", Worker: "w1", Start: at, End: at.Add(time.Second), Lease: 40 * time.Second},
			{Key: "b1", Worker: "w1", Start: at, End: at.Add(90 * time.Second), Lease: 40 * time.Second}, // paused past its lease
			{Key: "b1", Worker: "w2", Start: at.Add(60 * time.Second), End: at.Add(61 * time.Second), Lease: 40 * time.Second},
			{Key: "d1", Worker: "w1", Start: at, Lease: 40 * time.Second}, // killed
			{Key: "d1", Worker: "w2", Start: at.Add(41 * time.Second), End: at.Add(42 * time.Second), Lease: 40 * time.Second},
		},
		Effects: []history.Effect{
			{Key: "a1", Order: 1}, {Key: "a3", Order: 9}, {Key: "b1", Order: 2}, {Key: "b1", Order: 3}, {Key: "d1", Order: 4},
		},
		DeadLetters: []history.DeadLetter{{Key: "a2"}, {Key: "d1", Redriven: true}},
		Commits: []history.Commit{
			{Group: "g", Topic: "t", Partition: 0, Offset: 5}, {Group: "g", Topic: "t", Partition: 1, Offset: 2},
			{Group: "g", Topic: "t", Partition: 0, Offset: 5}, {Group: "g", Topic: "t", Partition: 0, Offset: 6},
		},
	}
}

func TestCheckAcceptsASoundRun(t *testing.T) {
	t.Parallel()
	assert.Empty(t, history.Check(sound()))
}

func TestCheckFindsEachBrokenPromise(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	for name, test := range map[string]struct {
		spoil func(h *history.History)
		want  history.Violation
	}{
		"a message is lost": {
			func(h *history.History) { h.Effects = h.Effects[1:] },
			history.Violation{Kind: history.Lost, Key: "a1", Detail: "acknowledged to its producer, and neither done nor a dead letter"},
		},
		"a redriven dead letter is lost": {
			func(h *history.History) { h.DeadLetters[0].Redriven = true },
			history.Violation{Kind: history.Lost, Key: "a2", Detail: "acknowledged to its producer, and neither done nor a dead letter"},
		},
		"an effect happens twice": {
			func(h *history.History) { h.Effects = append(h.Effects, history.Effect{Key: "a1", Order: 10, Call: 7}) },
			history.Violation{Kind: history.Twice, Key: "a1", Detail: "2 effects, by calls 0, 7"},
		},
		"done and given up": {
			func(h *history.History) { h.DeadLetters = append(h.DeadLetters, history.DeadLetter{Key: "a3"}) },
			history.Violation{Kind: history.Both, Key: "a3", Detail: "done, and a dead letter that was not redriven"},
		},
		"an effect of nobody's message": {
			func(h *history.History) { h.Effects = append(h.Effects, history.Effect{Key: "z"}) },
			history.Violation{Kind: history.Unknown, Key: "z", Detail: "an effect of a message that nobody produced"},
		},
		"a lane out of order": {
			func(h *history.History) { h.Effects[1].Order = 0 },
			history.Violation{Kind: history.Order, Key: "a3", Detail: "message 3 of lane a was done before message 1 (a1)"},
		},
		"an offset goes back": {
			func(h *history.History) {
				h.Commits = append(h.Commits, history.Commit{Group: "g", Topic: "t", Partition: 0, Offset: 4})
			},
			history.Violation{Kind: history.Backwards, Key: "t/0", Detail: "group g went from offset 6 back to 4"},
		},
		"two calls under a live lease": {
			func(h *history.History) {
				h.Calls = append(h.Calls, history.Call{Key: "a1", Worker: "w2", Start: at.Add(500 * time.Millisecond), Lease: time.Second})
			},
			history.Violation{Kind: history.Overlap, Key: "a1", Detail: "w2 started 500ms after w1, whose lease of 40s was live and whose call went on"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := sound()
			test.spoil(h)
			assert.Equal(t, []history.Violation{test.want}, history.Check(h))
		})
	}
}

// Fences are there for such calls: nobody can keep them from starting.
func TestACallThatBeginsAfterItsLeaseIsNoOverlap(t *testing.T) {
	t.Parallel()
	h := sound()
	h.Calls = append(h.Calls, history.Call{Key: "a1", Worker: "w2", Start: h.Calls[0].Start.Add(500 * time.Millisecond), Lease: -time.Second})
	assert.Empty(t, history.Check(h))
}

func TestHeldMessagesAreOutsideTheirLane(t *testing.T) {
	t.Parallel()
	h := sound()
	h.Effects[1].Order = 0
	h.Unordered = map[string]bool{"a3": true}
	assert.Empty(t, history.Check(h))
}
