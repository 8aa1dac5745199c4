package conformance

import (
	"encoding/json"
	"time"
)

// Status is what became of a case.
type Status string

const (
	// Passed: all its answers were right.
	Passed Status = "passed"
	// Failed: an answer was wrong or missing, or it passed and is a known failure.
	Failed Status = "failed"
	// Known: it failed, as the list of known failures says.
	Known Status = "known_failure"
)

// The kinds of failure beside those of a Fault.
const (
	wrongOutput    = "wrong_output"
	wrongError     = "wrong_error"
	unsupported    = "unsupported"
	unexpectedPass = "unexpected_pass"
)

// Result is a case and what the port made of it.
type Result struct {
	Vector *Vector
	Status Status
	// Kind says how it failed: wrong_output, wrong_error, unsupported, unexpected_pass, or a
	// FaultKind.
	Kind string
	// GotOutput and GotError are the wrong answer.
	GotOutput json.RawMessage
	GotError  string
	// Detail is the port's word on its error, or the fault in words.
	Detail string
	// Reason is that of the known failure.
	Reason string
	// Stderr is the end of the standard error of a process that stopped.
	Stderr string
}

// wrong records a wrong answer.
func (r *Result) wrong(a *answer) {
	r.Status = Failed
	switch {
	case a.unsupported:
		r.Kind = unsupported
	case a.output != nil:
		r.Kind = wrongOutput
		r.GotOutput = append(json.RawMessage(nil), a.output...)
	default:
		r.Kind = wrongError
		r.GotError, r.Detail = a.code, a.detail
	}
}

// Count is numbers of cases. Cases is the sum of Passed, Failed and Known; Unsupported is a part of
// the last two.
type Count struct {
	Cases       int `json:"cases"`
	Passed      int `json:"passed"`
	Failed      int `json:"failed"`
	Known       int `json:"known_failures"`
	Unsupported int `json:"unsupported"`
}

// GroupCount is the count of a group.
type GroupCount struct {
	Group    string `json:"group"`
	Required bool   `json:"required"`
	Count
}

// Report is the outcome of a run.
type Report struct {
	Spec      string
	Port      Hello
	Selection Selection
	Count     Count
	Groups    []GroupCount
	Results   []Result
	Findings  []Finding
	// Asked is how many questions were put: the cases, times the repetitions.
	Asked int
	Took  time.Duration
}

// Conformant is the verdict: every selected case is right or a known failure that fails, and there
// is no finding.
func (r *Report) Conformant() bool { return r.Count.Failed == 0 && len(r.Findings) == 0 }

// Partial is whether the verdict is about a selection, which proves nothing about the rest.
func (r *Report) Partial() bool { return r.Selection.partial() }
