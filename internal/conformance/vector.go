package conformance

import (
	"encoding/json"
	"fmt"
)

// Vector is one case with the answer it must get.
type Vector struct {
	ID   string   `json:"id"`
	Op   string   `json:"op"`
	Spec []string `json:"spec"`
	Note string   `json:"note,omitempty"`
	// Input and Output are JSON without white space; Output is nil where Error is the answer.
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output,omitempty"`
	Error  string          `json:"error,omitempty"`
	// Steps is what a port computes on the way, for whoever looks for the step that went wrong.
	Steps json.RawMessage `json:"steps,omitempty"`

	// Group is the file's name in the manifest.
	Group string `json:"group"`

	// tail is the line of the case from its op on: all of it but the number.
	tail []byte
	// want is Output, parsed.
	want value
}

// vectorFields are the members that a vector may have. The shape is closed, so that a misspelled
// member is a fault of the file and not a case that proves less than it says.
var vectorFields = []string{"id", "op", "spec", "input", "result", "output", "error", "note", "steps"}

// parseVector reads one vector of a group.
func parseVector(group string, raw []byte) (*Vector, error) {
	if err := checkMembers(raw, vectorFields); err != nil {
		return nil, err
	}
	var file struct {
		Vector
		Result string `json:"result"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	v := file.Vector
	v.Group = group
	switch {
	case v.ID == "" || v.Op == "" || len(v.Spec) == 0 || v.Input == nil:
		return nil, fmt.Errorf("vector %q lacks one of id, op, spec and input", v.ID)
	case file.Result == "valid" && (v.Output == nil || v.Error != ""),
		file.Result == "invalid" && (v.Error == "" || v.Output != nil),
		file.Result != "valid" && file.Result != "invalid":
		return nil, fmt.Errorf("vector %q: a valid one has an output, an invalid one an error", v.ID)
	}
	var err error
	if v.Input, err = compactJSON(v.Input); err != nil {
		return nil, fmt.Errorf("vector %q: input: %w", v.ID, err)
	}
	if v.Output != nil {
		if v.Output, err = compactJSON(v.Output); err != nil {
			return nil, fmt.Errorf("vector %q: output: %w", v.ID, err)
		}
		if v.want, err = parseJSON(v.Output); err != nil {
			return nil, fmt.Errorf("vector %q: output: %w", v.ID, err)
		}
	}
	v.tail = appendTail(nil, v.Op, v.Input)
	return &v, nil
}

// right reports whether an answer is the expected one: the same JSON value, or the same code.
func (v *Vector) right(a *answer) bool {
	if v.Output == nil {
		return a.code == v.Error
	}
	if a.output == nil {
		return false
	}
	if string(a.output) == string(v.Output) {
		return true
	}
	got, err := parseJSON(a.output)
	return err == nil && got.equal(v.want)
}

// appendTail appends the part of a case's line that follows its number.
func appendTail(dst []byte, op string, input []byte) []byte {
	dst = append(dst, `,"op":`...)
	dst = appendString(dst, op)
	dst = append(dst, `,"input":`...)
	dst = append(dst, input...)
	return append(dst, "}\n"...)
}

// checkMembers checks that raw is an object whose members have names of the list, each once.
func checkMembers(raw []byte, names []string) error {
	v, err := parseJSON(raw)
	if err != nil {
		return err
	}
	if v.kind != object {
		return fmt.Errorf("not an object: %s", quoteLine(raw))
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for _, name := range v.names {
		if !known[name] {
			return fmt.Errorf("a member %q, which is not one of %q", name, names)
		}
	}
	return nil
}
