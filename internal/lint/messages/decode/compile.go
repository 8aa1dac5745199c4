package decode

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/schema"
)

// Compile makes the plan of a message. set knows the options of its fields.
func Compile(set *schema.Set, m *schema.Message) *Plan {
	p := &Plan{Message: m}
	c := &compiler{set: set, plan: p, slots: map[string]int{}, prefixes: map[string]bool{}, shared: map[sharedKey]*node{}}
	p.Key, p.Previous = c.template(m.Key), c.template(m.KeyPrevious)
	p.BizKey, p.Fingerprint = c.template(m.BizKey), c.template(m.Fingerprint)
	if m.OccurredAt != nil {
		p.OccurredAt = &Part{component: m.OccurredAt, slot: c.slot(m.OccurredAt)}
	}
	p.root = c.node(m.Desc, "", true, false)
	return p
}

type compiler struct {
	set  *schema.Set
	plan *Plan
	// slots are the slots by path, and prefixes the paths of the messages on the way to them.
	slots    map[string]int
	prefixes map[string]bool
	// shared are the nodes of messages on no path.
	shared map[sharedKey]*node
}

type sharedKey struct {
	name     protoreflect.FullName
	redacted bool
}

func (c *compiler) slot(component *schema.Component) int {
	if i, known := c.slots[component.Name]; known {
		return i
	}
	i := len(c.plan.slots)
	c.slots[component.Name] = i
	c.plan.slots = append(c.plan.slots, slot{component: component})
	for j, b := range component.Name {
		if b == '.' {
			c.prefixes[component.Name[:j]] = true
		}
	}
	return i
}

// node makes the node of a message at a path. onPath says that components may be below it.
func (c *compiler) node(d protoreflect.MessageDescriptor, path string, onPath, redacted bool) *node {
	key := sharedKey{d.FullName(), redacted}
	if !onPath {
		if n := c.shared[key]; n != nil {
			return n
		}
	}
	n := &node{desc: d, mapped: mappingOf(d)}
	if !onPath {
		c.shared[key] = n
	}
	c.plan.verify = c.plan.verify || d.RequiredNumbers().Len() > 0 || isMessageSet(d)
	fields := d.Fields()
	for i := range fields.Len() {
		c.field(n, fields.Get(i), path, onPath, redacted)
	}
	n.finish()
	return n
}

func (c *compiler) field(n *node, d protoreflect.FieldDescriptor, path string, onPath, redacted bool) {
	name := string(d.Name())
	if path != "" {
		name = path + "." + name
	}
	f := newField(d)
	f.redacted = redacted || redacts(d)
	f.text = c.textCheck(d)
	if i, isSlot := c.slots[name]; onPath && isSlot {
		f.slot = i
		n.leaves = append(n.leaves, i)
		if d.Message() != nil {
			f.part = none
			f.node = c.leaf(d.Message(), i, f.redacted)
			f.node.wrapped = f.node.lookup(1)
		}
	} else if d.Message() != nil {
		f.node = c.node(d.Message(), name, onPath && c.prefixes[name], f.redacted)
	}
	n.add(f)
}

// leaf makes the node of a message that is one value.
func (c *compiler) leaf(d protoreflect.MessageDescriptor, slot int, redacted bool) *node {
	n := &node{desc: d, mapped: mappingOf(d)}
	for i := range d.Fields().Len() {
		f := newField(d.Fields().Get(i))
		f.slot, f.part, f.redacted = slot, partOf(f.desc), redacted
		if n.mapped == wrapper {
			f.text = checkOf(c.plan.slots[slot].component)
		}
		n.add(f)
	}
	n.finish()
	return n
}

// partOf is the part that a field of a well-known message is of its value.
func partOf(d protoreflect.FieldDescriptor) part {
	switch d.Name() {
	case "seconds", "units", "year":
		return first
	case "nanos", "month":
		return second
	case "day":
		return third
	case "currency_code":
		return letters
	case "value":
		if d.Parent().FullName() == "google.type.Decimal" {
			return letters
		}
	}
	return whole
}

func newField(d protoreflect.FieldDescriptor) *field {
	f := &field{
		desc: d, kind: d.Kind(), wire: wireOf(d.Kind()), list: d.IsList(), isMap: d.IsMap(), slot: -1, index: d.Index(), oneof: -1,
	}
	if f.kind == protoreflect.StringKind {
		f.utf8 = enforcesUTF8(d)
	}
	if e := d.Enum(); e != nil {
		f.enum, f.names = make(map[int32]bool, e.Values().Len()), make(map[string]int32, e.Values().Len())
		for i := range e.Values().Len() {
			value := e.Values().Get(i)
			f.enum[int32(value.Number())], f.names[string(value.Name())] = true, int32(value.Number())
		}
	}
	if o := d.ContainingOneof(); o != nil {
		f.oneof = o.Index()
	}
	return f
}

func (n *node) add(f *field) {
	number := f.desc.Number()
	if number < maxLow {
		for len(n.low) <= int(number) {
			n.low = append(n.low, nil)
		}
		n.low[number] = f
	} else {
		if n.high == nil {
			n.high = map[protowire.Number]*field{}
		}
		n.high[number] = f
	}
	if n.json == nil {
		n.json = map[string]*field{}
	}
}

// finish fills in what is known once all fields are there.
func (n *node) finish() {
	fields := n.desc.Fields()
	for i := range fields.Len() {
		f := n.lookup(fields.Get(i).Number())
		// The names of JSON go before the others, as in protojson.
		if text := f.desc.TextName(); n.desc.Fields().ByJSONName(text) == nil {
			n.json[text] = f
		}
		n.json[f.desc.JSONName()] = f
		f.clears = n.othersOf(f)
	}
	if n.mapped == wrapper {
		n.wrapped = n.lookup(1)
	}
}

// othersOf are the slots at and below the other members of a field's oneof.
func (n *node) othersOf(f *field) []int {
	o := f.desc.ContainingOneof()
	if o == nil {
		return nil
	}
	var slots []int
	for i := range o.Fields().Len() {
		if other := n.lookup(o.Fields().Get(i).Number()); other != f {
			slots = append(slots, other.below(map[*node]bool{})...)
		}
	}
	return slots
}

// below are the slots at and below a field. seen ends a recursion: messages that contain themselves are on
// no path there.
func (f *field) below(seen map[*node]bool) []int {
	if f.slot >= 0 {
		return []int{f.slot}
	}
	if f.node == nil || seen[f.node] {
		return nil
	}
	seen[f.node] = true
	var slots []int
	fields := f.node.desc.Fields()
	for i := range fields.Len() {
		if inner := f.node.lookup(fields.Get(i).Number()); inner != nil {
			slots = append(slots, inner.below(seen)...)
		}
	}
	return slots
}

// textCheck is what the options of a field say of its text.
func (c *compiler) textCheck(d protoreflect.FieldDescriptor) textCheck {
	if d.Kind() != protoreflect.StringKind || d.IsMap() {
		return textCheck{}
	}
	o := c.set.FieldOptions(d)
	switch {
	case o == nil:
		return textCheck{}
	case o.GetDecimal() != nil:
		scale := -1
		if o.GetDecimal().MaxScale != nil {
			scale = int(o.GetDecimal().GetMaxScale())
		}
		return textCheck{schema.DecimalText, scale}
	case o.GetTimestamp() != nil:
		return textCheck{kind: schema.TimestampText}
	case o.GetUuid():
		return textCheck{kind: schema.UUID}
	}
	return textCheck{}
}

// checkOf is the same of a component, for a StringValue.
func checkOf(c *schema.Component) textCheck {
	switch c.Kind {
	case schema.DecimalText, schema.TimestampText, schema.UUID:
		return textCheck{c.Kind, c.MaxScale}
	}
	return textCheck{}
}

func mappingOf(d protoreflect.MessageDescriptor) mapping {
	if d.ParentFile().Package() != "google.protobuf" {
		return object
	}
	switch name := d.Name(); {
	case name == "Timestamp":
		return timestamp
	case name != "Value" && strings.HasSuffix(string(name), "Value") && d.ParentFile().Path() == "google/protobuf/wrappers.proto":
		return wrapper
	}
	switch d.Name() {
	case "Any", "Duration", "FieldMask", "ListValue", "Struct", "Value":
		return special
	}
	return object
}

func wireOf(kind protoreflect.Kind) protowire.Type {
	switch kind {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	}
	return protowire.VarintType
}

// enforcesUTF8 asks protobuf-go's own descriptors, which know the features of an edition.
func enforcesUTF8(d protoreflect.FieldDescriptor) bool {
	if d, ok := d.(interface{ EnforceUTF8() bool }); ok {
		return d.EnforceUTF8()
	}
	return d.ParentFile().Syntax() == protoreflect.Proto3
}

func isMessageSet(d protoreflect.MessageDescriptor) bool {
	o, ok := d.(interface{ IsMessageSet() bool })
	return ok && o.IsMessageSet()
}

// redacts says that a field is marked debug_redact.
func redacts(d protoreflect.FieldDescriptor) bool {
	o, ok := d.Options().(*descriptorpb.FieldOptions)
	return ok && o.GetDebugRedact()
}

// typesOf are the types of a file and of what it imports.
func typesOf(f protoreflect.FileDescriptor) *dynamicpb.Types {
	files := new(protoregistry.Files)
	var register func(protoreflect.FileDescriptor)
	register = func(f protoreflect.FileDescriptor) {
		if _, err := files.FindFileByPath(f.Path()); err == nil {
			return
		}
		_ = files.RegisterFile(f) // of files that are linked, none is in the way of another
		for i := range f.Imports().Len() {
			register(f.Imports().Get(i).FileDescriptor)
		}
	}
	register(f)
	return dynamicpb.NewTypes(files)
}
