package input

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unsafe"

	"github.com/idem-spec/idem/internal/lint/messages/jsonscan"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// line parses a line of JSON. Its members, all but one of the payload's optional, are
//
//	topic, partition, offset        where it was read
//	partitions                      how many partitions the topic has
//	timestamp, or ts                the broker's, in milliseconds or RFC 3339
//	key, or key_base64              the record's key; null is none
//	headers                         {"name": "value"}, ["name", "value", …], or [{"key": "name", "value": "value"}, …];
//	                                a value is text, null, a number, or {"base64": "…"}
//	value or payload,               an object is the message in JSON; text is the payload's bytes, null none
//	value_base64 or payload_base64
//
// and all others are passed over. So what `kcat -C -J` and `rpk topic consume` print is read as it is.
func (p *Parser) line(_ *Batch, item *Item, m *Message) error {
	p.scan = jsonscan.Scanner{In: item.raw, Text: p.scan.Text[:0]}
	l := lineParser{&p.scan, m, 0}
	if err := l.object(l.member); err != nil {
		return l.failed(err)
	}
	if l.Blanks(); l.Pos != len(item.raw) {
		return &LineError{l.Pos, "something is behind the JSON of the message", "write one message a line"}
	}
	if l.seen&payload == 0 {
		return &LineError{0, "there is no value and no payload", "where the lines are payloads themselves, say --bare"}
	}
	m.HasHeaders = true
	return nil
}

// failed is the error of a line that cannot be read from here on.
func (l *lineParser) failed(err error) error {
	e := &LineError{l.Pos, err.Error(), "write the line as idem check --help says"}
	if errors.Is(err, errNoJSON) && l.Fault != "" {
		e.What = string(l.Fault)
	}
	switch {
	case !errors.Is(err, errNoJSON):
	case l.Fault == jsonscan.IllFormed:
		e.Mend = "put a payload or a header that is no text into base64, as in payload_base64: kcat -J cannot carry it"
	case l.Fault == jsonscan.NotFinite:
		e.Mend = `write them as text, as protobuf's JSON does: "NaN", "Infinity"`
	case l.Fault == "" && l.Pos >= len(l.In):
		e.What = "the JSON is cut off"
		e.Mend = "write one message a line, and whole"
	}
	return e
}

type lineParser struct {
	*jsonscan.Scanner
	m    *Message
	seen member
}

// member is one member of a line, by all its names. Others are passed over.
type member uint8

const (
	topic member = 1 << iota
	partition
	offset
	partitions
	timestamp
	key
	headers
	payload
)

var members = map[string]member{
	"topic": topic, "partition": partition, "offset": offset, "partitions": partitions, "timestamp": timestamp, "ts": timestamp,
	"key": key, "key_base64": key, "headers": headers,
	"value": payload, "payload": payload, "value_base64": payload, "payload_base64": payload,
}

var errNoJSON = errors.New("it is no JSON of a message")

// object visits the members of an object.
func (l *lineParser) object(member func(name []byte) error) error {
	l.Blanks()
	if !l.Byte('{') {
		return errNoJSON
	}
	for first := true; ; first = false {
		l.Blanks()
		if first && l.Byte('}') {
			return nil
		}
		name, ok := l.String()
		if !ok || !l.Colon() {
			return errNoJSON
		}
		if err := member(name); err != nil {
			return err
		}
		l.Blanks()
		if l.Byte('}') {
			return nil
		}
		if !l.Byte(',') {
			return errNoJSON
		}
	}
}

func (l *lineParser) member(called []byte) error {
	is := members[string(called)]
	name := string(called)
	if l.seen&is != 0 {
		return fmt.Errorf("%s is there twice, or by two names", name)
	}
	l.seen |= is
	var err error
	switch is {
	case topic:
		var text []byte
		if text, err = l.text(name); err == nil {
			l.m.Topic = string(text)
		}
	case partition:
		l.m.Partition, err = l.int32(name, 0)
	case offset:
		err = l.offset()
	case partitions:
		l.m.Partitions, err = l.int32(name, 1)
	case timestamp:
		err = l.time(name)
	case key:
		l.m.HasKey = true
		l.m.Key, err = l.bytes(name, name == "key_base64")
	case headers:
		err = l.headers()
	case payload:
		err = l.value(name)
	default:
		if !l.Skip() {
			err = errNoJSON
		}
	}
	return err
}

func (l *lineParser) value(name string) error {
	if l.Peek() == '{' {
		start := l.Pos
		if !l.Skip() {
			return errNoJSON
		}
		l.m.Payload, l.m.IsJSON = l.In[start:l.Pos:l.Pos], true
		return nil
	}
	var err error
	l.m.Payload, err = l.bytes(name, name == "value_base64" || name == "payload_base64")
	return err
}

// text is a string.
func (l *lineParser) text(name string) ([]byte, error) {
	if l.Peek() != '"' {
		return nil, fmt.Errorf("%s is no text", name)
	}
	text, ok := l.String()
	if !ok {
		return nil, errNoJSON
	}
	return text, nil
}

// bytes are a text or null.
func (l *lineParser) bytes(name string, encoded bool) ([]byte, error) {
	if l.Peek() == 'n' && l.Literal("null") {
		return nil, nil
	}
	text, err := l.text(name)
	if err != nil || !encoded {
		return text, err
	}
	return l.decoded(name, text)
}

func (l *lineParser) decoded(name string, text []byte) ([]byte, error) {
	start := len(l.Text)
	made, err := base64.StdEncoding.AppendDecode(l.Text, text)
	if err != nil {
		return nil, fmt.Errorf("%s is no base64", name)
	}
	l.Text = made
	return made[start:len(made):len(made)], nil
}

func (l *lineParser) int32(name string, least int32) (int32, error) {
	text, ok := l.Number()
	n, err := strconv.ParseInt(string(text), 10, 32)
	if !ok || err != nil || n < int64(least) {
		return 0, fmt.Errorf("%s is no integer from %d to %d", name, least, math.MaxInt32)
	}
	return int32(n), nil
}

// offset sees to it that the offset is one. Nothing else is asked of it.
func (l *lineParser) offset() error {
	text, ok := l.Number()
	if n, err := strconv.ParseInt(string(text), 10, 64); !ok || err != nil || n < 0 {
		return fmt.Errorf("offset is no integer from 0 to %d", math.MaxInt64)
	}
	return nil
}

// lastMilli is the last millisecond of the year 9999, behind which RFC 3339 has no time.
const lastMilli = 253402300799999

func (l *lineParser) time(name string) error {
	if l.Peek() == '"' {
		text, err := l.text(name)
		if err != nil {
			return err
		}
		if l.m.Time, err = time.Parse(time.RFC3339Nano, string(text)); err != nil {
			return fmt.Errorf("%s is no time of RFC 3339, and no milliseconds", name)
		}
		return nil
	}
	text, ok := l.Number()
	ms, err := strconv.ParseInt(string(text), 10, 64)
	switch {
	case !ok || err != nil:
		return fmt.Errorf("%s is no time of RFC 3339, and no milliseconds", name)
	case ms == -1: // how Kafka says that there is none
		return nil
	case ms < 0 || ms > lastMilli:
		return fmt.Errorf("%s is in no year from 1970 to 9999: it is the milliseconds since 1970", name)
	}
	l.m.Time = time.UnixMilli(ms)
	return nil
}

func (l *lineParser) headers() error {
	switch l.Peek() {
	case '{':
		return l.object(l.header)
	case '[':
		return l.list()
	}
	if !l.Literal("null") {
		return errors.New("headers are no object and no array")
	}
	return nil
}

// header reads the value of a header.
func (l *lineParser) header(name []byte) error {
	h := idem.Header{Name: nameOf(name)}
	var err error
	h.Value, err = l.headerValue(h.Name)
	l.m.Headers = append(l.m.Headers, h)
	return err
}

// nameOf is a name as a string, which for a header of the spec takes no memory.
func nameOf(name []byte) string {
	if id, known := idem.Kafka.Lookup(unsafe.String(unsafe.SliceData(name), len(name))); known {
		return id.String()
	}
	return string(name)
}

func (l *lineParser) headerValue(name string) ([]byte, error) {
	switch c := l.Peek(); {
	case c == '{':
		return l.encodedValue(name)
	case c == '-' || c-'0' < 10:
		number, ok := l.Number()
		if !ok {
			return nil, errNoJSON
		}
		return number, nil
	}
	if l.Peek() != '"' && l.Peek() != 'n' {
		return nil, fmt.Errorf("header %s is no text, null or number", name)
	}
	return l.bytes(name, false)
}

// encodedValue is {"base64": "…"}.
func (l *lineParser) encodedValue(name string) (value []byte, err error) {
	err = l.object(func(key []byte) error {
		if string(key) != "base64" {
			return fmt.Errorf("header %s: an object as its value is {\"base64\": …}", name)
		}
		value, err = l.bytes(name, true)
		return err
	})
	return value, err
}

// list reads headers as pairs of texts, or as objects.
func (l *lineParser) list() error {
	l.Byte('[')
	for first := true; ; first = false {
		l.Blanks()
		if first && l.Byte(']') {
			return nil
		}
		if err := l.element(); err != nil {
			return err
		}
		l.Blanks()
		if l.Byte(']') {
			return nil
		}
		if !l.Byte(',') {
			return errNoJSON
		}
	}
}

func (l *lineParser) element() error {
	if l.Peek() != '{' {
		name, err := l.text("the name of a header")
		if err != nil {
			return err
		}
		l.Blanks()
		if !l.Byte(',') {
			return errors.New("headers as an array are names and values in turn: a value is missing")
		}
		l.Blanks()
		return l.header(name)
	}
	var h idem.Header
	err := l.object(func(key []byte) error {
		var err error
		switch string(key) {
		case "key", "name":
			var name []byte
			name, err = l.text("the name of a header")
			h.Name = nameOf(name)
		case "value":
			h.Value, err = l.headerValue(h.Name)
		case "value_base64":
			h.Value, err = l.bytes("a header", true)
		default:
			if !l.Skip() {
				err = errNoJSON
			}
		}
		return err
	})
	l.m.Headers = append(l.m.Headers, h)
	return err
}
