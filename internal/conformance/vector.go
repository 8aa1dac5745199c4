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

// parseVectors reads the file of a group.
func parseVectors(group string, data []byte) ([]*Vector, error) {
	var vectors []*Vector
	s := scanner{data: data}
	err := s.list('[', ']', func() error {
		v, err := parseVector(group, &s)
		if err != nil {
			return fmt.Errorf("vector %d: %w", len(vectors)+1, err)
		}
		vectors = append(vectors, v)
		return nil
	})
	if err == nil {
		err = s.end()
	}
	return vectors, err
}

// parseVector reads one vector. The shape is closed, so that a misspelled member is a fault of the file
// and not a case that proves less than it says.
func parseVector(group string, s *scanner) (*Vector, error) {
	v := Vector{Group: group}
	var result string
	seen := map[string]bool{}
	err := s.list('{', '}', func() error {
		name, err := s.name()
		if err != nil {
			return err
		}
		if seen[name] {
			return s.errorf("two members %q", name)
		}
		seen[name] = true
		return v.member(name, &result, s)
	})
	if err != nil {
		return nil, fmt.Errorf("%q: %w", v.ID, err)
	}
	switch {
	case v.ID == "" || v.Op == "" || len(v.Spec) == 0 || v.Input == nil:
		return nil, fmt.Errorf("%q lacks one of id, op, spec and input", v.ID)
	case result == "valid" && (v.Output == nil || v.Error != ""),
		result == "invalid" && (v.Error == "" || v.Output != nil),
		result != "valid" && result != "invalid":
		return nil, fmt.Errorf("%q: a valid one has an output, an invalid one an error", v.ID)
	}
	v.tail = appendTail(nil, v.Op, v.Input)
	return &v, nil
}

// member reads one member's value.
func (v *Vector) member(name string, result *string, s *scanner) error {
	s.peek()
	start := s.pos
	value, err := s.value(1)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	raw := func() json.RawMessage { return appendCompact(nil, s.data[start:s.pos]) }
	want := text
	switch name {
	case "id":
		v.ID = value.text
	case "op":
		v.Op = value.text
	case "note":
		v.Note = value.text
	case "error":
		v.Error = value.text
	case "result":
		*result = value.text
	case "spec":
		want = array
		for _, e := range value.elems {
			v.Spec = append(v.Spec, e.text)
		}
	case "steps":
		want = array
		v.Steps = raw()
	case "input":
		want = object
		v.Input = raw()
	case "output":
		want = object
		v.Output, v.want = raw(), value
	default:
		return fmt.Errorf("a member %q, which a vector does not have", name)
	}
	if value.kind != want {
		return fmt.Errorf("%s is of another type", name)
	}
	return nil
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
