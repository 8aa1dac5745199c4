package idem

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// ParseHeaders reads the headers of a message. See Envelope.Parse.
func ParseHeaders(t Transport, headers Headers) (*Envelope, error) {
	e := new(Envelope)
	if err := e.Parse(t, headers); err != nil {
		return nil, err
	}
	return e, nil
}

// Parse reads the headers of a message into e, whatever e held before. Each header is checked for
// conflict, UTF-8, syntax and range, in the order of the spec's table, and the first fault is the
// error, with the header's name as Field: CodeHeaderConflict, CodeHeaderUTF8, CodeHeaderSyntax,
// CodeHeaderRange; CodeKeySyntax and CodeKeyTooLong for keys; CodeSpecVersion. A message with such an
// error is malformed: it is not retryable. Faulty context headers are Warnings. After an error e holds
// nothing that is of use. (HDR-010 to HDR-015)
func (e *Envelope) Parse(t Transport, headers Headers) error {
	var found foundHeaders
	*e = Envelope{Unknown: found.collect(t, headers)}
	var texts strings.Builder
	texts.Grow(found.textLen())
	for id := HeaderID(0); id < headerCount; id++ {
		f := &found[id]
		if !f.there {
			continue
		}
		err := e.read(t, id, f, &texts)
		if err == nil {
			e.Present.add(id)
			continue
		}
		if !contextHeaders.Has(id) {
			return InField(err, headerNames[id])
		}
		e.Warnings.add(id)
	}
	return nil
}

// foundHeader is what a message has of one known header.
type foundHeader struct {
	value    []byte // the first value; of trace headers the last one
	there    bool
	conflict bool // there are values that differ
	integer  bool // it, or an equal one, is an AMQP integer
	badKey   bool // it is an HTTP key that begins with a quote and is no structured-field string
}

type foundHeaders [headerCount]foundHeader

// collect sorts the pairs into known headers, and unknown ones, which it returns.
func (found *foundHeaders) collect(t Transport, headers Headers) Headers {
	var unknown Headers
	for i := range headers {
		h := &headers[i]
		id, known := t.Lookup(h.Name)
		if !known {
			unknown = append(unknown, *h)
			continue
		}
		if h.Value == nil {
			continue
		}
		value, badKey := bind(t, id, h.Value)
		f := &found[id]
		if traceHeaders.Has(id) {
			*f = foundHeader{value: value, there: true, integer: h.Integer}
			continue
		}
		if f.there {
			f.conflict = f.conflict || f.badKey != badKey || !bytes.Equal(f.value, value)
			f.integer = f.integer || h.Integer
			continue
		}
		*f = foundHeader{value: value, there: true, integer: h.Integer, badKey: badKey}
	}
	return unknown
}

// bind takes off what a transport puts around a value.
func bind(t Transport, id HeaderID, value []byte) (bound []byte, badKey bool) {
	if t != HTTP {
		return value, false
	}
	value = trimBlanks(value)
	if id != IdempotencyKey || len(value) == 0 || value[0] != '"' {
		return value, false
	}
	key, ok := parseSFString(value)
	if !ok {
		return value, true
	}
	return key, false
}

// textLen is the bytes of all values that become text, so that they share one allocation.
func (found *foundHeaders) textLen() int {
	n := 0
	for id := range found {
		if !integerHeaders.Has(HeaderID(id)) && len(found[id].value) <= MaxKeyLen || traceHeaders.Has(HeaderID(id)) {
			n += len(found[id].value)
		}
	}
	return n
}

// read checks one header and puts it into its field.
func (e *Envelope) read(t Transport, id HeaderID, f *foundHeader, texts *strings.Builder) error {
	if f.conflict {
		return rule(CodeHeaderConflict, "two values that differ")
	}
	if !utf8.Valid(f.value) {
		return fault(CodeHeaderUTF8, string(f.value), illFormed(string(f.value)), "ill-formed UTF-8")
	}
	if f.badKey {
		return fault(CodeKeySyntax, string(f.value), noOffset, "a quote begins a structured-field string")
	}
	if f.integer && !integerHeaders.Has(id) {
		return fault(CodeHeaderSyntax, string(f.value), noOffset, "an AMQP integer in a header of text")
	}
	if t == HTTP && !keyHeaders.Has(id) && !printable(f.value) {
		return fault(CodeHeaderSyntax, string(f.value), noOffset, "an HTTP value has only bytes 0x20-0x7E")
	}
	if number := e.number(id); number != nil {
		return readInteger(number, id, f.value)
	}
	if id == BackoffSchedule {
		return e.readSchedule(f.value)
	}
	start := texts.Len()
	if err := checkText(id, f.value); err != nil {
		return err
	}
	texts.Write(f.value)
	*e.text(id) = texts.String()[start:]
	return nil
}
