// Package schema reads what a set of .proto files says in the options of idem, and refuses what
// chapter 3 of the spec refuses. It is the one place that reads options: the emitters, the linter
// and the command line work on its Set.
//
// The outline: build.go walks the files; options.go finds the options; template.go, component.go,
// message.go, policy.go and transition.go are about messages; enum.go and machine.go about enums;
// features.go about what editions say; position.go and problem.go say what is wrong and where.
package schema

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// Set is a set of files as Build read it.
type Set struct {
	// Files are the files that were asked for, also those without any option, in the order of their
	// paths.
	Files []*File

	messages map[protoreflect.FullName]*Message
	enums    map[protoreflect.FullName]*Enum
	fields   map[protoreflect.FieldDescriptor]*fieldInfo
}

// Message returns the annotated message of that name, or nil.
func (s *Set) Message(name protoreflect.FullName) *Message { return s.messages[name] }

// Enum returns the annotated enum of that name, or nil.
func (s *Set) Enum(name protoreflect.FullName) *Enum { return s.enums[name] }

// FieldOptions is (idem.v1.field) as it is written, or nil. It is known of the fields of the Files and of
// those that a template of theirs names.
func (s *Set) FieldOptions(d protoreflect.FieldDescriptor) *idempb.FieldOptions {
	if f := s.fields[d]; f != nil {
		return f.option
	}
	return nil
}

// File is one .proto file.
type File struct {
	// Desc is the file. Its Path is "shop/v1/payment.proto".
	Desc protoreflect.FileDescriptor
	// Messages are the messages with (idem.v1.message), nested ones too, in the order in which the
	// file declares them.
	Messages []*Message
	// Enums are the enums with (idem.v1.state_machine) or at least one (idem.v1.error), in the order in
	// which the file declares them, nested ones last.
	Enums []*Enum
}

// Annotated says whether there is anything to emit for the file.
func (f *File) Annotated() bool { return len(f.Messages)+len(f.Enums) > 0 }

// DeclaresOptions says whether the file is idem/v1/options.proto, wherever it is vendored: the
// file whose output the support sources are. (PLUG-003)
func (f *File) DeclaresOptions() bool {
	x := f.Desc.Extensions().ByName("message")
	return x != nil && x.FullName() == "idem.v1.message"
}

// Message is a message with (idem.v1.message).
type Message struct {
	// Desc is the message.
	Desc protoreflect.MessageDescriptor
	// Options is the option as it is written: what is stated and what is a default.
	Options *idempb.MessageOptions
	// EventType is the first segment of Key.
	EventType string
	// Key is the template of the idempotency key. It is never nil.
	Key *Template
	// KeyPrevious, BizKey and Fingerprint are nil where the option is not there.
	KeyPrevious, BizKey, Fingerprint *Template
	// OccurredAt is a timestamp, or nil. It is left out of the headers where its field is missing,
	// whatever AllowMissing says (HDR-021).
	OccurredAt *Component
	// Retry is the policy, or nil.
	Retry *Policy
	// Transition is the transition, or nil.
	Transition *Transition
	// Comment is the comment above the option, as SourceCodeInfo has it; often empty.
	Comment string
}

// Templates lists the key, the previous key, the biz key and the fingerprint, those that are there.
func (m *Message) Templates() []*Template {
	var all []*Template
	for _, t := range []*Template{m.Key, m.KeyPrevious, m.BizKey, m.Fingerprint} {
		if t != nil {
			all = append(all, t)
		}
	}
	return all
}

// Template is segments that are joined by ':'.
type Template struct {
	// Text is the template as it is written.
	Text string
	// Place is where it is written.
	Place Place
	// Segments are never empty.
	Segments []Segment
}

// Segment is a literal, or a component where Component is not nil.
type Segment struct {
	Literal   string
	Component *Component
}

// Kind says how a component becomes text.
type Kind int

// The kinds, and what the leaf of the path holds.
const (
	String         Kind = 1 + iota // a string; escaped, as the only kind
	Bytes                          // bytes
	Bool                           // a bool
	Enum32                         // an open enum: its number
	Int                            // an integer of Bits bits, Signed or not
	UUID                           // a string
	DecimalText                    // a string
	DecimalMessage                 // google.type.Decimal; an empty value is 0
	Money                          // google.type.Money
	Timestamp                      // google.protobuf.Timestamp
	TimestampText                  // a string in RFC 3339
	TimestampEpoch                 // an integer of Bits bits, Signed or not, that counts Unit
	Duration                       // google.protobuf.Duration
	Date                           // google.type.Date
)

var kindNames = [...]string{
	String: "string", Bytes: "bytes", Bool: "bool", Enum32: "enum", Int: "int", UUID: "uuid",
	DecimalText: "decimal text", DecimalMessage: "decimal message", Money: "money",
	Timestamp: "timestamp", TimestampText: "timestamp text", TimestampEpoch: "timestamp epoch",
	Duration: "duration", Date: "date",
}

// String is for people.
func (k Kind) String() string {
	if k > 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "no kind"
}

// Unit is the unit of an integer since the epoch: "s", "ms", "us" or "ns".
type Unit string

// Component is a placeholder of a template.
type Component struct {
	// Path is the fields from the message to the leaf; all but the last are singular messages.
	Path []protoreflect.FieldDescriptor
	// Name is the path as the template has it, "customer.id": the field of an error message.
	Name string
	// Kind is how the value becomes text.
	Kind Kind
	// Wrapper says that the leaf is a message of google.protobuf/wrappers.proto. Kind, Bits and Signed
	// are about its value, and the value is never missing where the wrapper is set.
	Wrapper bool
	// Bits is 32 or 64 and Signed the signedness of Int and TimestampEpoch.
	Bits   int
	Signed bool
	// MaxScale is the most fraction digits of the kinds of decimals, -1 where the scale is free.
	MaxScale int
	// Digits is the fraction digits of the kinds of timestamps and of Duration, 0 to 9.
	Digits int
	// Unit is the unit of TimestampEpoch.
	Unit Unit
	// HasPresence says whether the leaf can tell unset from its zero value. A leaf without presence is
	// missing where it has its zero value.
	HasPresence bool
	// AllowMissing says that a missing component is no error: an unset leaf, and one below an unset
	// message, is written "~"; the zero value of a leaf without presence is written as its text.
	AllowMissing bool
	// Digest says that the component is the SHA-256 digest of the canonical text. The "~" of a missing
	// one is not digested.
	Digest bool
	// Redacted says that a field on the path is marked debug_redact, so that no error message may show
	// the value.
	Redacted bool
}

// Leaf is the last field of the path.
func (c *Component) Leaf() protoreflect.FieldDescriptor { return c.Path[len(c.Path)-1] }

// Policy is a retry policy with the defaults of the spec filled in.
type Policy struct {
	MaxRetry, MaxHold  int32
	BackoffBaseSeconds int32
	BackoffJitterMs    int32
	BackoffMaxSeconds  int32
	// BackoffScheduleMs is explicit delays in place of base and max; empty where there is none.
	BackoffScheduleMs []int32
}

// Transition is the edge that a message stands for.
type Transition struct {
	// Enum declares the machine; its Machine is never nil. It may be in another file, and in one that
	// the message's file does not import: emitted code does not refer to the enum's.
	Enum *Enum
	// From is "" for a creation.
	From, To string
	// DeadLetterSuperseded is ON_SUPERSEDED_DEAD_LETTER; otherwise such a message is acknowledged.
	DeadLetterSuperseded bool
}

// Enum is an enum with (idem.v1.state_machine), with (idem.v1.error), or with both.
type Enum struct {
	// Desc is the enum.
	Desc protoreflect.EnumDescriptor
	// Machine is nil where the enum declares none.
	Machine *Machine
	// Outcomes are the values of an error enum that have an outcome, each number once, in the order of
	// declaration. What is not among them is RETRYABLE. It is empty where the enum is no error enum.
	Outcomes []ValueOutcome
	// Comment is the comment above (idem.v1.state_machine); often empty.
	Comment string
}

// ValueOutcome is the outcome of one value.
type ValueOutcome struct {
	Value protoreflect.EnumValueDescriptor
	// Outcome is OK, DUPLICATE, RETRYABLE, THROTTLED, OUT_OF_ORDER or NON_RETRYABLE.
	Outcome string
}

// Machine is a state machine. Its edges form no cycle.
type Machine struct {
	// States are the states, each number once, in the order of declaration. Not all of them need to be
	// in an edge.
	States []State
	// Edges are the edges, each once, in the order of declaration.
	Edges []Edge

	graph *graph
}

// State is a state and its text.
type State struct {
	Text  string
	Value protoreflect.EnumValueDescriptor
}

// Edge is an allowed transition, by the texts of states; From may be "".
type Edge struct{ From, To string }
