package schema

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// defaultDigits is the fraction digits of a timestamp or duration that does not state them. (OPT-021)
const defaultDigits = 3

// The field numbers of (idem.v1.field).
const (
	fieldDecimal   = 1
	fieldTimestamp = 2
	fieldDuration  = 3
	fieldUUID      = 4
)

// fieldInfo is what a field is as a component, whichever template names it.
type fieldInfo struct {
	option *idempb.FieldOptions
	// broken says that the field's option has a problem, which is reported.
	broken bool
	// kind is 0 where the field has no text; then what and mend say why.
	kind       Kind
	what, mend string

	wrapper, signed bool
	bits            int
	maxScale        int
	digits          int
	unit            Unit
	presence        bool
}

// fill writes what is known of the leaf into a component.
func (f *fieldInfo) fill(c *Component) {
	c.Kind = f.kind
	c.Wrapper = f.wrapper
	c.Bits, c.Signed = f.bits, f.signed
	c.MaxScale, c.Digits, c.Unit = f.maxScale, f.digits, f.unit
	c.HasPresence = f.presence
	c.AllowMissing = f.option.GetMissing() == idempb.Missing_MISSING_ALLOW
	c.Digest = f.option.GetDigest() == idempb.Digest_DIGEST_SHA256
}

// field reads what a field is, once.
func (b *builder) field(d protoreflect.FieldDescriptor) *fieldInfo {
	if f := b.fields[d]; f != nil {
		return f
	}
	before := len(b.problems)
	f := &fieldInfo{option: b.fieldOption(d), presence: d.HasPresence(), maxScale: -1, digits: defaultDigits}
	b.fields[d] = f
	if f.what, f.mend = plural(d); f.what == "" {
		f.holds(d)
	}
	b.applyOption(d, f)
	f.broken = len(b.problems) > before
	return f
}

// wrappers are the messages of google/protobuf/wrappers.proto that have a text, and their values.
var wrappers = map[protoreflect.FullName]protoreflect.Kind{
	"google.protobuf.StringValue": protoreflect.StringKind,
	"google.protobuf.BytesValue":  protoreflect.BytesKind,
	"google.protobuf.BoolValue":   protoreflect.BoolKind,
	"google.protobuf.Int32Value":  protoreflect.Int32Kind,
	"google.protobuf.Int64Value":  protoreflect.Int64Kind,
	"google.protobuf.UInt32Value": protoreflect.Uint32Kind,
	"google.protobuf.UInt64Value": protoreflect.Uint64Kind,
}

// values are the other messages that have a text.
var values = map[protoreflect.FullName]Kind{
	"google.protobuf.Timestamp": Timestamp,
	"google.protobuf.Duration":  Duration,
	"google.type.Date":          Date,
	"google.type.Decimal":       DecimalMessage,
	"google.type.Money":         Money,
}

// opaque are messages whose content is of no type.
var opaque = map[protoreflect.FullName]bool{
	"google.protobuf.Any":       true,
	"google.protobuf.Struct":    true,
	"google.protobuf.Value":     true,
	"google.protobuf.ListValue": true,
}

// isValue says whether a message stands for one value, so that a path ends in it.
func isValue(m protoreflect.MessageDescriptor) bool {
	_, value := values[m.FullName()]
	_, wrapper := wrappers[m.FullName()]
	return value || wrapper || isFloatWrapper(m)
}

func isFloatWrapper(m protoreflect.MessageDescriptor) bool {
	return m.FullName() == "google.protobuf.FloatValue" || m.FullName() == "google.protobuf.DoubleValue"
}

const floatMend = "use a string with [(idem.v1.field).decimal = {max_scale: 2}], a google.type.Decimal or an integer: no two languages write a float alike"

// holds finds the kind by the field's type.
func (f *fieldInfo) holds(d protoreflect.FieldDescriptor) {
	if d.Kind() != protoreflect.MessageKind {
		f.scalar(d, d.Kind())
		return
	}
	m := d.Message()
	kind, isWrapper := wrappers[m.FullName()]
	switch {
	case isWrapper:
		f.wrapper = true
		f.scalar(d, kind)
	case values[m.FullName()] != 0:
		f.kind = values[m.FullName()]
	case isFloatWrapper(m):
		f.what, f.mend = fmt.Sprintf("%s is a %s, which has no text", short(d.Name()), m.FullName()), floatMend
	default:
		f.what = fmt.Sprintf("%s is a %s, a message without a text", short(d.Name()), short(m.FullName()))
		f.mend = "name a field of it, {" + short(d.Name()) + ".field}"
		if opaque[m.FullName()] || m.Fields().Len() == 0 {
			f.mend = "name a typed field"
		}
	}
}

// scalar finds the kind of a scalar, of the field or in its wrapper.
func (f *fieldInfo) scalar(d protoreflect.FieldDescriptor, kind protoreflect.Kind) {
	switch kind {
	case protoreflect.StringKind:
		f.kind = String
	case protoreflect.BytesKind:
		f.kind = Bytes
	case protoreflect.BoolKind:
		f.kind = Bool
	case protoreflect.EnumKind:
		f.kind = Enum32
		switch {
		case d.Enum().IsClosed():
			f.kind = 0
			f.what = fmt.Sprintf("%s is of the closed enum %s", short(d.Name()), short(d.Enum().FullName()))
			f.mend = "use an open enum (proto3, or features.enum_type = OPEN): a closed one reads as unset where the number is new"
		case ClosedInJava(d):
			f.kind = 0
			where, mend := whereClosed(d)
			f.what = fmt.Sprintf("%s is of the open enum %s, which Java reads as a closed one in %s",
				short(d.Name()), short(d.Enum().FullName()), where)
			f.mend = mend + ": a new number reads as unset in Java, and as itself elsewhere"
		}
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		f.kind, f.bits, f.signed = Int, 32, true
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		f.kind, f.bits, f.signed = Int, 64, true
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		f.kind, f.bits = Int, 32
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		f.kind, f.bits = Int, 64
	default:
		f.what, f.mend = fmt.Sprintf("%s is a %s, which has no text", short(d.Name()), kind), floatMend
	}
}

// whereClosed is what makes Java read the enum of a field as a closed one, and how to mend it.
func whereClosed(d protoreflect.FieldDescriptor) (where, mend string) {
	if Edition(d.ParentFile()) == descriptorpb.Edition_EDITION_PROTO2 {
		return "a field of a proto2 file", "name another field, or declare the message in a proto3 or edition file"
	}
	return "a field with features.(pb.java).legacy_closed_enum", "leave the feature out"
}

// applyOption refuses a field option that does not fit, and lets the kind follow it. (OPT-020, OPT-021)
func (b *builder) applyOption(d protoreflect.FieldDescriptor, f *fieldInfo) {
	o, held := f.option, f.kind
	place := at(d, extension)
	var given []string
	fit := func(number int32, name string, fits bool, what string) bool {
		given = append(given, name)
		if !fits {
			b.problem(place.Below(number), "OPT-020",
				fmt.Sprintf("%s does not fit %s, %s", name, short(d.FullName()), describe(d)), "it is for "+what)
		}
		return fits
	}
	if o.GetDecimal() != nil && fit(fieldDecimal, "decimal", held == String || held == DecimalMessage,
		"a string, a StringValue or a google.type.Decimal") {
		b.decimal(place.Below(fieldDecimal), d, f, o.GetDecimal())
	}
	if o.GetTimestamp() != nil && fit(fieldTimestamp, "timestamp", held == String || held == Timestamp || held == Int,
		"a Timestamp, a string, an integer of 32 or 64 bits, or a wrapper of these") {
		b.timestamp(place.Below(fieldTimestamp), d, f, o.GetTimestamp())
	}
	if o.GetDuration() != nil && fit(fieldDuration, "duration", held == Duration, "a google.protobuf.Duration") {
		b.digits(place.Below(fieldDuration, 1), d, f, o.GetDuration().FractionDigits)
	}
	if o.GetUuid() && fit(fieldUUID, "uuid", held == String, "a string or a StringValue") {
		f.kind = UUID
	}
	if len(given) > 1 {
		b.problem(place, "OPT-020", fmt.Sprintf("%s has %s", short(d.FullName()), list(given, len(given))), "leave one of them: a field has one text")
	}
}

func (b *builder) decimal(p Place, d protoreflect.FieldDescriptor, f *fieldInfo, o *idempb.DecimalOptions) {
	if f.kind == String {
		f.kind = DecimalText
	}
	if o.MaxScale == nil {
		return
	}
	if scale := o.GetMaxScale(); scale < 0 || scale > 255 {
		b.problem(p.Below(1), "OPT-021", fmt.Sprintf("max_scale of %s is %d", short(d.FullName()), scale), "use 0 to 255, or leave it out for any")
	}
	f.maxScale = int(o.GetMaxScale())
}

func (b *builder) timestamp(p Place, d protoreflect.FieldDescriptor, f *fieldInfo, o *idempb.TimestampOptions) {
	b.digits(p.Below(1), d, f, o.FractionDigits)
	f.unit = map[idempb.TimeUnit]Unit{
		idempb.TimeUnit_TIME_UNIT_S:  "s",
		idempb.TimeUnit_TIME_UNIT_MS: "ms",
		idempb.TimeUnit_TIME_UNIT_US: "us",
		idempb.TimeUnit_TIME_UNIT_NS: "ns",
	}[o.GetUnit()]
	switch {
	case f.kind == Int && f.unit == "":
		b.problem(p, "OPT-021", short(d.FullName())+" is an integer, and its unit is not said",
			"add unit: TIME_UNIT_S, TIME_UNIT_MS, TIME_UNIT_US or TIME_UNIT_NS")
	case f.kind != Int && f.unit != "":
		b.problem(p.Below(2), "OPT-021", fmt.Sprintf("%s has a unit and is %s", short(d.FullName()), describe(d)), "leave it out: it is for integers")
	}
	switch f.kind {
	case Int:
		f.kind = TimestampEpoch
	case String:
		f.kind = TimestampText
	}
}

func (b *builder) digits(p Place, d protoreflect.FieldDescriptor, f *fieldInfo, digits *int32) {
	if digits == nil {
		return
	}
	if *digits < 0 || *digits > 9 {
		b.problem(p, "OPT-021", fmt.Sprintf("fraction_digits of %s is %d", short(d.FullName()), *digits), "use 0 to 9")
	}
	f.digits = int(*digits)
}

// describe names a field's type.
func describe(d protoreflect.FieldDescriptor) string {
	name := d.Kind().String()
	switch {
	case d.IsMap():
		return "a map"
	case d.Message() != nil:
		name = short(d.Message().FullName())
	case d.Enum() != nil:
		name = short(d.Enum().FullName())
	}
	if d.IsList() {
		return "a repeated " + name
	}
	return "of type " + name
}
