package conformance

import (
	"encoding/json"
	"io"
)

// jsonReport is the shape of the JSON report. Members are added, never changed or removed.
type jsonReport struct {
	Protocol  string        `json:"protocol"`
	Spec      string        `json:"spec"`
	Port      Hello         `json:"port"`
	Verdict   string        `json:"verdict"`
	Selection jsonSelection `json:"selection"`
	Asked     int           `json:"asked"`
	Millis    int64         `json:"duration_ms"`
	Count
	Groups   []GroupCount `json:"groups"`
	Findings []Finding    `json:"findings"`
	Results  []jsonResult `json:"results"`
}

type jsonSelection struct {
	All    bool     `json:"all"`
	Groups []string `json:"groups"`
	Cases  []string `json:"cases"`
}

type jsonResult struct {
	ID       string          `json:"id"`
	Group    string          `json:"group"`
	Op       string          `json:"op"`
	Spec     []string        `json:"spec"`
	Status   Status          `json:"status"`
	Kind     string          `json:"kind,omitempty"`
	Note     string          `json:"note,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Expected *jsonAnswer     `json:"expected,omitempty"`
	Got      *jsonAnswer     `json:"got,omitempty"`
	Steps    json.RawMessage `json:"steps,omitempty"`
	Detail   string          `json:"detail,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Stderr   string          `json:"stderr,omitempty"`
}

type jsonAnswer struct {
	Output json.RawMessage `json:"output,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// verdict is the verdict in one word, the same in every report.
func (r *Report) verdict() string {
	if r.Conformant() {
		return "conformant"
	}
	return "not_conformant"
}

// WriteJSON writes the report as one JSON object. Cases that passed have no input and no answers.
func (r *Report) WriteJSON(w io.Writer) error {
	out := jsonReport{
		Protocol: protocol, Spec: r.Spec, Port: r.Port, Verdict: r.verdict(), Count: r.Count,
		Selection: jsonSelection{All: !r.Partial(), Groups: list(r.Selection.Groups), Cases: list(r.Selection.Cases)},
		Asked:     r.Asked, Millis: r.Took.Milliseconds(),
		Groups: list(r.Groups), Findings: list(r.Findings), Results: make([]jsonResult, len(r.Results)),
	}
	for i, res := range r.Results {
		v := res.Vector
		out.Results[i] = jsonResult{ID: v.ID, Group: v.Group, Op: v.Op, Spec: v.Spec, Status: res.Status, Kind: res.Kind}
		if res.Status == Passed {
			continue
		}
		j := &out.Results[i]
		j.Note, j.Input, j.Steps = v.Note, v.Input, v.Steps
		j.Detail, j.Reason, j.Stderr = res.Detail, res.Reason, res.Stderr
		j.Expected = &jsonAnswer{Output: v.Output, Error: v.Error}
		if res.GotOutput != nil || res.GotError != "" {
			j.Got = &jsonAnswer{Output: res.GotOutput, Error: res.GotError}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// list makes a missing list an empty one, so that JSON has [] and not null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
