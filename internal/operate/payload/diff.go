package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Change is what differs between two payloads: a field in protobuf's JSON.
type Change struct {
	// Path is as in customer.name and items[1].price.
	Path string `json:"path"`
	// Before and After are its values. They are empty where it is not there, and of a field that is never shown.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	Hidden bool            `json:"hidden,omitempty"`
}

// unknownFields is the path of what a schema does not know.
const unknownFields = "fields that the schema does not know"

// Diff compares two payloads, field by field. Of fields that Show hides it says only that they differ.
func (s *Schema) Diff(eventType string, before, after []byte) ([]Change, error) {
	was, hiddenBefore, err := s.show(eventType, before)
	if err != nil {
		return nil, err
	}
	is, hiddenAfter, err := s.show(eventType, after)
	if err != nil {
		return nil, err
	}
	var d differ
	d.value("", tree(was.JSON), tree(is.JSON))
	for _, path := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(was.Hidden, is.Hidden)))) {
		if !slices.Equal(hiddenBefore.hidden[path], hiddenAfter.hidden[path]) {
			d.changes = append(d.changes, Change{Path: path, Hidden: true})
		}
	}
	if !slices.Equal(hiddenBefore.unknown, hiddenAfter.unknown) {
		d.changes = append(d.changes, Change{Path: unknownFields, Hidden: true})
	}
	return d.changes, nil
}

// tree is JSON as maps, lists, texts and numbers as they are written.
func tree(text []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&value) // it is what has just been written
	return value
}

// differ collects what differs between two trees.
type differ struct{ changes []Change }

// absent is a value that is not there: null is one that is.
type absent struct{}

func (d *differ) value(path string, before, after any) {
	switch before := before.(type) {
	case map[string]any:
		if after, ok := after.(map[string]any); ok {
			d.object(path, before, after)
			return
		}
	case []any:
		if after, ok := after.([]any); ok {
			d.list(path, before, after)
			return
		}
	}
	if !reflect.DeepEqual(before, after) {
		d.changes = append(d.changes, Change{Path: path, Before: jsonOf(before), After: jsonOf(after)})
	}
}

func (d *differ) object(path string, before, after map[string]any) {
	if path != "" {
		path += "."
	}
	both := maps.Clone(before)
	maps.Copy(both, after)
	field := func(of map[string]any, name string) any {
		if value, ok := of[name]; ok {
			return value
		}
		return absent{}
	}
	for _, name := range slices.Sorted(maps.Keys(both)) {
		d.value(path+name, field(before, name), field(after, name))
	}
}

func (d *differ) list(path string, before, after []any) {
	element := func(of []any, i int) any {
		if i < len(of) {
			return of[i]
		}
		return absent{}
	}
	for i := range max(len(before), len(after)) {
		d.value(fmt.Sprintf("%s[%d]", path, i), element(before, i), element(after, i))
	}
}

func jsonOf(value any) json.RawMessage {
	if _, none := value.(absent); none {
		return nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(value)
	return bytes.TrimSpace(text.Bytes())
}
