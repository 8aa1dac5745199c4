package idem

// Edge is one allowed transition of a state machine, by the texts of its states. "" is the state of an
// object that does not exist yet.
type Edge struct{ From, To string }

// Verdict is the verdict of a Machine on a transition.
type Verdict uint8

// The verdicts.
const (
	VerdictApply     Verdict = 1 + iota // the object is in the expected state
	VerdictDuplicate                    // it is already there, or past it: DUPLICATE
	VerdictEarly                        // the predecessor is still to come: OutcomeOutOfOrder
	VerdictConflict                     // it can never apply: OutcomeConflict
)

var verdictNames = [...]string{VerdictApply: "APPLY", VerdictDuplicate: "DUPLICATE", VerdictEarly: "EARLY", VerdictConflict: "CONFLICT"}

// String is the verdict's name in the spec, "APPLY".
func (v Verdict) String() string {
	if v > 0 && int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "VERDICT_" + decimalText(int64(v))
}

// Machine is a set of edges without a cycle, prepared for questions. It does not change after
// MachineOf, and is safe for concurrent use.
type Machine struct {
	ids  map[string]int
	next [][]int
	// reach[a*words:] is a bit for each state that can be reached from a.
	reach []uint64
	words int
}

// MachineOf prepares a machine. An edge given twice counts once; edges that lead back, an edge from a
// state to itself among them, are CodeStateCycle. (STATE-001)
func MachineOf(edges []Edge) (*Machine, error) {
	m := &Machine{ids: make(map[string]int, len(edges)+1)}
	for _, e := range edges {
		from, to := m.add(e.From), m.add(e.To)
		m.next[from] = append(m.next[from], to)
	}
	order := m.topological()
	if len(order) < len(m.next) {
		return nil, rule(CodeStateCycle, "the transitions lead back to where they began")
	}
	m.words = (len(m.next) + 63) / 64
	m.reach = make([]uint64, len(m.next)*m.words)
	for i := len(order) - 1; i >= 0; i-- {
		a := order[i]
		row := m.row(a)
		for _, b := range m.next[a] {
			row[b/64] |= 1 << uint(b%64)
			for w, bits := range m.row(b) {
				row[w] |= bits
			}
		}
	}
	return m, nil
}

// add returns the number of a state, which may be new.
func (m *Machine) add(state string) int {
	id, ok := m.ids[state]
	if !ok {
		id = len(m.next)
		m.ids[state] = id
		m.next = append(m.next, nil)
	}
	return id
}

// topological lists the states so that edges lead forward; states on and behind a cycle are left out.
func (m *Machine) topological() []int {
	incoming := make([]int, len(m.next))
	for _, targets := range m.next {
		for _, b := range targets {
			incoming[b]++
		}
	}
	order := make([]int, 0, len(m.next))
	for a, n := range incoming {
		if n == 0 {
			order = append(order, a)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, b := range m.next[order[i]] {
			if incoming[b]--; incoming[b] == 0 {
				order = append(order, b)
			}
		}
	}
	return order
}

func (m *Machine) row(a int) []uint64 { return m.reach[a*m.words : (a+1)*m.words] }

func (m *Machine) reaches(a, b int) bool {
	return m.reach[a*m.words+b/64]>>uint(b%64)&1 == 1
}

func (m *Machine) hasEdge(a, b int) bool {
	for _, to := range m.next[a] {
		if to == b {
			return true
		}
	}
	return false
}

// Verdict says what the transition (from, to) does to an object in the state current, which is "" where
// there is no object. Errors: CodeStateUnknown where from or to is in no edge, or current is in none and
// not ""; then CodeTransitionUndeclared where (from, to) is no edge. (STATE-003, STATE-004)
func (m *Machine) Verdict(current, from, to string) (Verdict, error) {
	f, ok := m.ids[from]
	if !ok {
		return 0, fault(CodeStateUnknown, from, noOffset, "from is in no transition")
	}
	t, ok := m.ids[to]
	if !ok {
		return 0, fault(CodeStateUnknown, to, noOffset, "to is in no transition")
	}
	c, known := m.ids[current]
	if !known && current != "" {
		return 0, fault(CodeStateUnknown, current, noOffset, "the current state is in no transition")
	}
	if !m.hasEdge(f, t) {
		return 0, fault(CodeTransitionUndeclared, from+" -> "+to, noOffset, "no such transition")
	}
	switch {
	case !known:
		return VerdictEarly, nil
	case c == f:
		return VerdictApply, nil
	case c == t || m.reaches(t, c):
		return VerdictDuplicate, nil
	case m.reaches(c, f):
		return VerdictEarly, nil
	}
	return VerdictConflict, nil
}
