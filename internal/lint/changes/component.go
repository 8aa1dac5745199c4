package changes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var components = []*rule{
	component("IDEM_COMPONENT_NUMBER_CHANGED", lint.Error,
		"Checks that a field that a template names keeps its number.", []string{"OPT-012", "KEY-001"}, numberChanged),
	component("IDEM_COMPONENT_TYPE_CHANGED", lint.Error,
		"Checks that a field that a template names keeps its type.", []string{"OPT-012", "KEY-001"}, typeChanged),
	component("IDEM_COMPONENT_TEXT_CHANGED", lint.Error,
		"Checks that a field that a template names stays the decimal, time, UUID or plain value that it is.", []string{"OPT-020", "KEY-001"}, textChanged),
	component("IDEM_COMPONENT_UNIT_CHANGED", lint.Error,
		"Checks that an epoch integer that a template names keeps its unit.", []string{"OPT-021"}, unitChanged),
	component("IDEM_COMPONENT_DIGITS_CHANGED", lint.Error,
		"Checks that a time that a template names keeps its fraction digits.", []string{"OPT-021"}, digitsChanged),
	component("IDEM_COMPONENT_SCALE_LOWERED", lint.Error,
		"Checks that a decimal that a template names allows the fraction digits that it allowed.", []string{"OPT-021"}, scaleLowered),
	component("IDEM_COMPONENT_PRESENCE_CHANGED", lint.Error,
		"Checks that a field that a template names keeps its presence.", []string{"OPT-022", "KEY-004"}, presenceChanged),
	component("IDEM_COMPONENT_MISSING_CHANGED", lint.Error,
		"Checks that a field that a template names is refused or allowed where it is missing, as it was.", []string{"KEY-004", "KEY-005"}, missingChanged),
	component("IDEM_COMPONENT_DIGEST_CHANGED", lint.Error,
		"Checks that a field that a template names stays a digest, or stays none.", []string{"KEY-003"}, digestChanged),
	{lint.Rule{
		ID: "IDEM_COMPONENT_ENUM_RENUMBERED", Kind: lint.Change, Category: lint.Component, Severity: lint.Error,
		Purpose: "Checks that the values of an enum that a template names keep their numbers.",
		Spec:    []string{"OPT-012", "KEY-012"},
	}, enumRenumbered},
}

// diff says how a component differs, as "FIELD IS, before WAS"; is is empty where it does not. field is the
// one on the path that differs, nil for the leaf, and at the part of (idem.v1.field) that says so, none
// where that is the declaration.
type diff struct {
	is, was, mend string
	field         protoreflect.FieldDescriptor
	at            []int32
}

// component is a rule about each component that a template has before and after.
func component(id string, severity lint.Severity, purpose string, spec []string, differ func(use) diff) *rule {
	return &rule{lint.Rule{
		ID: id, Kind: lint.Change, Category: lint.Component, Severity: severity, Purpose: purpose, Spec: spec,
	}, func(p *pass) {
		for _, m := range p.messages {
			p.differing(m, differ)
		}
	}}
}

// differing reports the components of a message that differ, each field once with all the templates that
// name it.
func (p *pass) differing(m *pair, differ func(use) diff) {
	uses := m.uses()
	for i, u := range uses {
		sameField := func(other use) bool { return other.to.Leaf() == u.to.Leaf() && other.to.Name == u.to.Name }
		d := differ(u)
		if d.is == "" || slices.ContainsFunc(uses[:i], func(other use) bool { return sameField(other) && differ(other).is != "" }) {
			continue
		}
		var options []string
		for _, other := range uses[i:] {
			if sameField(other) && differ(other).is != "" && !slices.Contains(options, other.text.option) {
				options = append(options, other.text.option)
			}
		}
		field := u.to.Leaf()
		if d.field != nil {
			field = d.field
		}
		p.report(schema.FieldOption(field, d.at...), m.example(u.text), d.mend,
			"%s %s, before %s: it is in the %s of %s", field.FullName(), d.is, d.was,
			strings.Join(options, " and the "), m.after.Desc.FullName())
	}
}

// restore is how to mend most of these.
const restore = "leave it as it was, and add a field of another name and number for what is new"

// numberChanged: what is in flight has the value under the other number.
func numberChanged(u use) diff {
	for i, to := range u.to.Path {
		if i < len(u.from.Path) && u.from.Path[i].Number() != to.Number() {
			return diff{
				is: "has the number " + strconv.Itoa(int(to.Number())), was: strconv.Itoa(int(u.from.Path[i].Number())), field: to,
				mend: "give it its number again: a reader with this schema does not find the value in what is in flight",
			}
		}
	}
	return diff{}
}

func typeChanged(u use) diff {
	before, after := typeName(u.from), typeName(u.to)
	if before == after || widened[[2]string{before, after}] {
		return diff{}
	}
	return diff{is: "is of type " + after, was: before, mend: restore}
}

// widened are changes of type after which a reader finds the same number in what is in flight, and writes
// it as the same text.
var widened = map[[2]string]bool{
	{"int32", "int64"}: true, {"uint32", "uint64"}: true, {"uint32", "int64"}: true, {"sint32", "sint64"}: true,
	{"enum", "int32"}: true, {"enum", "int64"}: true, {"int32", "enum"}: true,
}

// typeName is the type on the wire: of an enum its values do not matter.
func typeName(c *schema.Component) string {
	if m := c.Leaf().Message(); m != nil {
		return string(m.FullName())
	}
	return c.Leaf().Kind().String()
}

// textKindOf is the kind of a text, where an enum is its number.
func textKindOf(c *schema.Component) schema.Kind {
	if c.Kind == schema.Enum32 {
		return schema.Int
	}
	return c.Kind
}

func textChanged(u use) diff {
	if typeChanged(u).is != "" || textKindOf(u.from) == textKindOf(u.to) {
		return diff{}
	}
	return diff{is: "is written as " + u.to.Kind.String(), was: "as " + u.from.Kind.String(), mend: restore}
}

// alike says whether both components are written in the same way but for what a rule compares.
func alike(u use) bool { return typeChanged(u).is == "" && textChanged(u).is == "" }

func unitChanged(u use) diff {
	if !alike(u) || u.from.Unit == u.to.Unit {
		return diff{}
	}
	return diff{is: "counts " + string(u.to.Unit), was: string(u.from.Unit), mend: restore, at: []int32{optionTimestamp}}
}

func digitsChanged(u use) diff {
	if !alike(u) || u.from.Digits == u.to.Digits {
		return diff{}
	}
	var at []int32
	switch u.to.Kind {
	case schema.Timestamp, schema.TimestampText, schema.TimestampEpoch:
		at = []int32{optionTimestamp}
	case schema.Duration:
		at = []int32{optionDuration}
	default:
		return diff{}
	}
	return diff{
		is: fmt.Sprintf("has %d fraction digits", u.to.Digits), was: strconv.Itoa(u.from.Digits),
		mend: fmt.Sprintf("write fraction_digits: %d again, or add a field of another name and number for the finer time", u.from.Digits),
		at:   at,
	}
}

// The parts of (idem.v1.field).
const (
	optionDecimal   = 1
	optionTimestamp = 2
	optionDuration  = 3
	optionMissing   = 5
	optionDigest    = 6
)

// maxScale is the most fraction digits that any decimal has: its text is at most 256 bytes, and begins with
// "0.". (TXT-006)
const maxScale = 254

// scaleLowered: a larger scale refuses nothing that there was.
func scaleLowered(u use) diff {
	from, to := u.from.MaxScale, u.to.MaxScale
	isDecimal := u.to.Kind == schema.DecimalText || u.to.Kind == schema.DecimalMessage
	if !alike(u) || !isDecimal || to < 0 || to >= maxScale || from >= 0 && from <= to {
		return diff{}
	}
	was, mend := strconv.Itoa(from), fmt.Sprintf("write max_scale: %d again", from)
	if from < 0 {
		was, mend = "any number", "leave max_scale out again"
	}
	return diff{
		is: fmt.Sprintf("allows %d fraction digits", to), was: was,
		mend: mend + ": a value in flight that has more is refused", at: []int32{optionDecimal},
	}
}

func presenceChanged(u use) diff {
	sibling, field := joined(u)
	switch {
	case typeChanged(u).is != "":
	case u.from.HasPresence != u.to.HasPresence:
		is, was := "has presence", "none"
		if u.from.HasPresence {
			is, was = "has no presence", "it had"
		}
		return diff{
			is: is, was: was,
			mend: "declare it as it was: what is unset and what is zero are told apart on one side alone",
		}
	case sibling != "" && u.shows():
		return diff{
			is: "shares a oneof with " + sibling, was: "not", field: field,
			mend: "leave the oneof as it was: of two members in one message in flight the last one is read",
		}
	}
	return diff{}
}

// shows says whether a sample tells both sides apart.
func (u use) shows() bool {
	c := u.example(u.text)
	return c.before != c.after
}

// joined names a field that is now in one oneof with a field on the path, and was declared outside of it;
// "" where there is none.
func joined(u use) (sibling string, field protoreflect.FieldDescriptor) {
	for i := range min(len(u.from.Path), len(u.to.Path)) {
		before, after := u.from.Path[i], u.to.Path[i]
		for _, n := range siblings(after) {
			if f := before.ContainingMessage().Fields().ByNumber(n); f != nil && !slices.Contains(siblings(before), n) {
				return string(f.Name()), after
			}
		}
	}
	return "", nil
}

// siblings are the numbers of the other members of a field's oneof.
func siblings(d protoreflect.FieldDescriptor) []protoreflect.FieldNumber {
	var numbers []protoreflect.FieldNumber
	if o := d.ContainingOneof(); o != nil {
		for i := range o.Fields().Len() {
			if n := o.Fields().Get(i).Number(); n != d.Number() {
				numbers = append(numbers, n)
			}
		}
	}
	return numbers
}

// missingChanged leaves the header occurred_at out, which does not care. (HDR-021)
func missingChanged(u use) diff {
	if !alike(u) || u.from.AllowMissing == u.to.AllowMissing || u.text.option == "occurred_at" {
		return diff{}
	}
	at := []int32{optionMissing}
	if u.to.AllowMissing {
		return diff{
			is: "is MISSING_ALLOW", was: "MISSING_ERROR", at: at,
			mend: "write MISSING_ERROR again: messages without it were refused, and now share a key where they agree in the rest",
		}
	}
	return diff{is: "is MISSING_ERROR", was: "MISSING_ALLOW", at: at, mend: "write MISSING_ALLOW again: messages without it had a key, and are now refused"}
}

func digestChanged(u use) diff {
	if !alike(u) || u.from.Digest == u.to.Digest {
		return diff{}
	}
	is := map[bool]string{true: "a digest", false: "the text itself"}
	return diff{is: "is written as " + is[u.to.Digest], was: "as " + is[u.from.Digest], mend: restore, at: []int32{optionDigest}}
}

// enumRenumbered is apart, since a message in flight keeps its number: what differs is what producers
// write who mean the same value.
func enumRenumbered(p *pass) {
	seen := make(map[protoreflect.FullName]bool)
	for _, m := range p.messages {
		for _, u := range m.uses() {
			if u.from.Kind != schema.Enum32 || u.to.Kind != schema.Enum32 || u.text.option == "occurred_at" {
				continue
			}
			for _, v := range renumbered(u.from.Leaf().Enum(), u.to.Leaf().Enum()) {
				if seen[v.after.FullName()] {
					continue
				}
				seen[v.after.FullName()] = true
				p.report(schema.Decl(v.after), m.renumberedExample(u, v), "give it the number "+strconv.Itoa(int(v.before.Number()))+" again",
					"%s has the number %d, before %d: keys have the number, and it is in the %s of %s",
					v.after.FullName(), v.after.Number(), v.before.Number(), u.text.option, m.after.Desc.FullName())
			}
		}
	}
}

// valuePair is a value of an enum before and after.
type valuePair struct {
	before, after protoreflect.EnumValueDescriptor
}

// renumbered are the values of a name that have another number.
func renumbered(before, after protoreflect.EnumDescriptor) []valuePair {
	var all []valuePair
	for i := range after.Values().Len() {
		v := after.Values().Get(i)
		if was := before.Values().ByName(v.Name()); was != nil && was.Number() != v.Number() {
			all = append(all, valuePair{was, v})
		}
	}
	return all
}

// renumberedExample is what a producer writes who means the value.
func (p *pair) renumberedExample(u use, v valuePair) change {
	with := func(m *schema.Message, c *schema.Component, n protoreflect.EnumNumber) []byte {
		message := sample(m, componentsOf(m))
		leafMessage(message, c).Set(c.Leaf(), protoreflect.ValueOfEnum(n))
		return marshal(message)
	}
	before := u.text.of(u.text.before, p.before.Desc, with(p.before, u.from, v.before.Number()))
	after := u.text.of(u.text.after, p.after.Desc, with(p.after, u.to, v.after.Number()))
	return change{before.String(), after.String()}
}
