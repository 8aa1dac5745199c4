package decode

import (
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/schema"
)

// Plan is how payloads of one message are read.
type Plan struct {
	// Message is the message.
	Message *schema.Message
	// Key, Previous, BizKey and Fingerprint are the templates; nil where the message has none.
	Key, Previous, BizKey, Fingerprint *Template
	// OccurredAt is the timestamp of the header of that name, or nil.
	OccurredAt *Part

	root  *node
	slots []slot
	// verify says that a payload can be wrong in a way that only protobuf's decoder knows: required fields
	// and message sets.
	verify bool

	once     sync.Once
	resolver *dynamicpb.Types
}

// slot is where the value of a component goes.
type slot struct {
	component *schema.Component
}

// node is a message as it is walked: its fields, by number and by name.
type node struct {
	desc protoreflect.MessageDescriptor
	// low are the fields of small numbers, high the others.
	low  []*field
	high map[protowire.Number]*field
	json map[string]*field
	// leaves are the slots of fields of this very message: they are unset, not zero, where it is not there.
	leaves []int
	mapped mapping
	// wrapped is the value of a wrapper.
	wrapped *field
}

// mapping is how JSON writes a message.
type mapping uint8

const (
	object    mapping = iota // by its fields
	timestamp                // google.protobuf.Timestamp
	wrapper                  // by its one value
	special                  // in another way: protojson reads it
)

// maxLow bounds the table of fields by number.
const maxLow = 256

// lookup is the field of a number, or nil.
func (n *node) lookup(number protowire.Number) *field {
	if int(number) < len(n.low) {
		return n.low[number]
	}
	return n.high[number]
}

// field is a field as it is walked.
type field struct {
	desc protoreflect.FieldDescriptor
	kind protoreflect.Kind
	wire protowire.Type
	list bool
	// isMap says that it is a map, whose entries are node.
	isMap bool
	// node is the message that it holds.
	node *node
	// slot is where its value goes, -1 for nowhere, and part which part of the slot it is.
	slot int
	part part
	// index is its place in the message.
	index int
	// oneof is the place of its oneof in the message, -1 where it is in none, and clears the slots of the
	// others of that.
	oneof  int
	clears []int
	utf8   bool
	// enum are the numbers of an enum that are declared, and names its names.
	enum  map[int32]bool
	names map[string]int32
	text  textCheck
	// redacted says that nobody may see the value.
	redacted bool
}

// part is which part of a value a field is.
type part uint8

const (
	whole   part = iota // text of strings and bytes, else the number
	first               // seconds, units, year
	second              // nanos, month
	third               // day
	letters             // currency_code, the text of a Decimal
	none                // the message around the parts
)

// textCheck is what a string with an option of idem is to be.
type textCheck struct {
	kind  schema.Kind // DecimalText, TimestampText or UUID; 0 for any text
	scale int
}
