package idem_test

import (
	"math/rand"
	"strconv"
	"testing"

	"github.com/idem-spec/idem/runtime/go/idem"
)

var orderEdges = []idem.Edge{
	{From: "CREATED", To: "PAYING"}, {From: "PAYING", To: "PAID"}, {From: "PAID", To: "REFUNDED"},
	{From: "CREATED", To: "CANCELLED"}, {From: "PAYING", To: "PAID"},
}

func TestTransitionVerdict(t *testing.T) {
	t.Parallel()
	m, err := idem.MachineOf(orderEdges)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		current, from, to string
		verdict           idem.Verdict
		code              idem.Code
	}{
		{"PAYING", "PAYING", "PAID", idem.VerdictApply, ""},
		{"PAID", "PAYING", "PAID", idem.VerdictDuplicate, ""},
		{"REFUNDED", "PAYING", "PAID", idem.VerdictDuplicate, ""},
		{"CREATED", "PAYING", "PAID", idem.VerdictEarly, ""},
		{"CANCELLED", "PAYING", "PAID", idem.VerdictConflict, ""},
		{"", "PAYING", "PAID", idem.VerdictEarly, ""},
		{"", "nope", "PAID", 0, idem.CodeStateUnknown},
		{"PAID", "PAYING", "nope", 0, idem.CodeStateUnknown},
		{"nope", "PAYING", "PAID", 0, idem.CodeStateUnknown},
		{"nope", "PAID", "PAYING", 0, idem.CodeStateUnknown},
		{"PAID", "PAID", "PAYING", 0, idem.CodeTransitionUndeclared},
		{"", "CREATED", "PAID", 0, idem.CodeTransitionUndeclared},
		{"paying", "PAYING", "PAID", 0, idem.CodeStateUnknown},
	} {
		got, err := m.Verdict(c.current, c.from, c.to)
		if got != c.verdict || idem.CodeOf(err) != c.code {
			t.Errorf("%q for %s -> %s: got %v, %v", c.current, c.from, c.to, got, err)
		}
	}
}

func TestTransitionCreates(t *testing.T) {
	t.Parallel()
	m, err := idem.MachineOf([]idem.Edge{{From: "", To: "A"}, {From: "A", To: "B"}})
	if err != nil {
		t.Fatal(err)
	}
	for current, w := range map[string]idem.Verdict{"": idem.VerdictApply, "A": idem.VerdictDuplicate, "B": idem.VerdictDuplicate} {
		if got, err := m.Verdict(current, "", "A"); got != w || err != nil {
			t.Errorf("%q: got %v, %v", current, got, err)
		}
	}
}

func TestTransitionCycleIsRefused(t *testing.T) {
	t.Parallel()
	for name, edges := range map[string][]idem.Edge{
		"self loop":  {{From: "A", To: "A"}},
		"two states": {{From: "A", To: "B"}, {From: "B", To: "A"}},
		"behind a way in and before a way out": {
			{From: "I", To: "A"}, {From: "A", To: "B"}, {From: "B", To: "A"}, {From: "B", To: "O"},
		},
	} {
		if _, err := idem.MachineOf(edges); idem.CodeOf(err) != idem.CodeStateCycle {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A second source: reachability by walking, on random graphs of more states than a word has bits.
func TestTransitionVerdictAgreesWithWalking(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(4))
	const states = 90
	var edges []idem.Edge
	next := make([][]int, states)
	for i := 0; i < 150; i++ {
		a, b := random.Intn(states), random.Intn(states)
		if a > b {
			a, b = b, a
		}
		if a != b {
			edges = append(edges, idem.Edge{From: strconv.Itoa(a), To: strconv.Itoa(b)})
			next[a] = append(next[a], b)
		}
	}
	var reaches func(a, b int) bool
	reaches = func(a, b int) bool {
		for _, n := range next[a] {
			if n == b || n < b && reaches(n, b) {
				return true
			}
		}
		return false
	}
	m, err := idem.MachineOf(edges)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edges {
		from, _ := strconv.Atoi(e.From)
		to, _ := strconv.Atoi(e.To)
		for current := 0; current < states; current++ {
			got, err := m.Verdict(strconv.Itoa(current), e.From, e.To)
			w := idem.VerdictConflict
			switch {
			case idem.CodeOf(err) == idem.CodeStateUnknown:
				continue
			case current == from:
				w = idem.VerdictApply
			case current == to || reaches(to, current):
				w = idem.VerdictDuplicate
			case reaches(current, from):
				w = idem.VerdictEarly
			}
			if got != w || err != nil {
				t.Fatalf("%d for %+v: got %v, %v, want %v", current, e, got, err, w)
			}
		}
	}
}

func TestVerdictDoesNotAllocate(t *testing.T) {
	m, _ := idem.MachineOf(orderEdges)
	withoutAllocation(t, func() { _, _ = m.Verdict("PAYING", "PAYING", "PAID") })
}
