package checklist

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AdapterError is an adapter that cannot be used as it is written.
type AdapterError struct {
	File string
	Line int // 0 where no line is to blame
	Err  error
}

func (e *AdapterError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap gives what is wrong.
func (e *AdapterError) Unwrap() error { return e.Err }

// placeError is what is wrong at a place of the adapter, such as order[0].effect.sql.
type placeError struct {
	place string
	err   error
}

func (e *placeError) Error() string { return e.place + ": " + e.err.Error() }

func (e *placeError) Unwrap() error { return e.err }

// wrong says where in a file an error is.
func wrong(file string, a *Adapter, err error) error {
	e := &AdapterError{File: file, Err: err}
	if at := (*placeError)(nil); errors.As(err, &at) && a != nil {
		e.Line = lineOf(a.document, at.place)
	}
	return e
}

// ofAdapter says which adapter an error is of, where it is no other kind of error.
func ofAdapter(a *Adapter, err error) error {
	var start *StartError
	if errors.As(err, &start) || errors.Is(err, context.Canceled) {
		return err
	}
	return wrong(a.file, a, err)
}

// lineOf is the line of a place, or of the last part of it that is there.
func lineOf(document *yaml.Node, place string) int {
	if document == nil || len(document.Content) == 0 {
		return 0
	}
	n, line := document.Content[0], 0
	for _, name := range strings.FieldsFunc(place, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		next, at := child(n, name)
		if next == nil {
			break
		}
		n, line = next, at
	}
	return line
}

// child is what a node has under a name or a number, and the line on which that begins.
func child(of *yaml.Node, name string) (*yaml.Node, int) {
	switch of.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(of.Content); i += 2 {
			if of.Content[i].Value == name {
				return of.Content[i+1], of.Content[i].Line
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i < len(of.Content) {
			return of.Content[i], of.Content[i].Line
		}
	}
	return nil, 0
}
