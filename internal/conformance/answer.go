package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// protocol is the only version of the protocol there is.
const protocol = "idem-conformance/1"

// Hello is what a port says about itself.
type Hello struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// parseHello reads the port's first line.
func parseHello(line []byte) (Hello, error) {
	if bytes.HasPrefix(line, []byte("\xef\xbb\xbf")) {
		return Hello{}, errors.New("the hello begins with a byte order mark: write UTF-8 without one")
	}
	v, err := parseJSON(line)
	if err != nil || v.kind != object {
		return Hello{}, fmt.Errorf("the first line is no JSON object: %s", quoteLine(line))
	}
	members := map[string]value{}
	for i, name := range v.names {
		members[name] = v.elems[i]
	}
	is := func(name string) (string, bool) {
		m := members[name]
		return m.text, m.kind == text && m.text != ""
	}
	if t, _ := is("type"); t != "hello" {
		return Hello{}, fmt.Errorf("the first line is no hello: %s", quoteLine(line))
	}
	if p, _ := is("protocol"); p != protocol {
		return Hello{}, fmt.Errorf("the hello's protocol is not %q: %s", protocol, quoteLine(line))
	}
	name, named := is("name")
	version, versioned := is("version")
	if !named || !versioned {
		return Hello{}, fmt.Errorf("the hello has no name and version: %s", quoteLine(line))
	}
	return Hello{Name: name, Version: version}, nil
}

// answer is one result line. Exactly one of output, code and unsupported is there.
type answer struct {
	seq int64
	// output is the JSON value as the port wrote it. It points into the line.
	output      []byte
	code        string
	detail      string
	unsupported bool
}

// parseAnswer reads a result line. The shape is closed: a member that the protocol does not have,
// or one twice, makes it a wrong line.
func parseAnswer(line []byte) (answer, error) {
	if len(line) > 0 && line[0] == 0xef && bytes.HasPrefix(line, []byte("\xef\xbb\xbf")) {
		return answer{}, errors.New("a byte order mark")
	}
	// A detail is for people, who may well quote half a surrogate pair; an output that has one is no
	// expected output.
	s := scanner{data: line, halves: true}
	if s.peek() != '{' {
		return answer{}, errors.New("not a JSON object")
	}
	var (
		a     answer
		seen  [6]bool
		names = [6]string{"type", "seq", "output", "error", "detail", "unsupported"}
	)
	err := s.list('{', '}', func() error {
		name, err := s.name()
		if err != nil {
			return err
		}
		i := 0
		for i < len(names) && names[i] != name {
			i++
		}
		if i == len(names) {
			return fmt.Errorf("a member %q, which a result does not have", name)
		}
		if seen[i] {
			return fmt.Errorf("two members %q", name)
		}
		seen[i] = true
		s.peek()
		return a.member(name, &s)
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return answer{}, err
	}
	if !seen[0] || !seen[1] {
		return answer{}, errors.New("no type and seq")
	}
	kinds := 0
	for _, there := range []bool{seen[2], seen[3], seen[5]} {
		if there {
			kinds++
		}
	}
	if kinds != 1 {
		return answer{}, fmt.Errorf("%d of output, error and unsupported, which exclude each other", kinds)
	}
	if seen[4] && !seen[3] {
		return answer{}, errors.New("a detail without an error")
	}
	return a, nil
}

// member reads one member's value.
func (a *answer) member(name string, s *scanner) error {
	raw := func() []byte { return s.data[s.pos:] }
	switch name {
	case "output":
		var err error
		if len(raw()) > 0 && raw()[0] != '{' {
			return errors.New("an output that is no object")
		}
		a.output, err = s.skip(1)
		return err
	case "unsupported":
		a.unsupported = true
		if err := s.word("true"); err != nil {
			return errors.New("unsupported is true or not there")
		}
		return nil
	case "seq":
		n, err := s.number()
		if err != nil {
			return errors.New("a seq that is no number")
		}
		a.seq, err = strconv.ParseInt(n, 10, 64)
		if err != nil || strconv.FormatInt(a.seq, 10) != n {
			return fmt.Errorf("the seq %s", n)
		}
		return nil
	}
	if len(raw()) == 0 || raw()[0] != '"' {
		return fmt.Errorf("the member %q is no string", name)
	}
	t, err := s.str()
	if err != nil {
		return err
	}
	switch name {
	case "type":
		if t != "result" {
			return fmt.Errorf("the type %q instead of %q", t, "result")
		}
	case "error":
		if t == "" {
			return errors.New("an empty error code")
		}
		a.code = t
	case "detail":
		a.detail = t
	}
	return nil
}

// quoteLine shows a line, or the beginning of a long one, with what does not print escaped.
func quoteLine(line []byte) string {
	const most = 200
	if len(line) <= most {
		return strconv.QuoteToGraphic(string(line))
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.QuoteToGraphic(string(line[:most])), len(line))
}
