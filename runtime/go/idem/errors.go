package idem

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// Code names a fault. The same fault has the same code in every language; the words around it may
// differ.
type Code string

// The codes of the spec.
const (
	CodeDecimalSyntax        Code = "DECIMAL_SYNTAX"        // no decimal number
	CodeDecimalRange         Code = "DECIMAL_RANGE"         // exponent over 4 digits, or text over 256 bytes
	CodeDecimalScale         Code = "DECIMAL_SCALE"         // more fraction digits than max_scale
	CodeMoneyCurrency        Code = "MONEY_CURRENCY"        // currency is not [A-Z]{3}
	CodeMoneyRange           Code = "MONEY_RANGE"           // nanos out of range, or of another sign than units
	CodeTimestampSyntax      Code = "TIMESTAMP_SYNTAX"      // not RFC 3339 as the spec reads it, or no real date
	CodeTimestampRange       Code = "TIMESTAMP_RANGE"       // outside the years 0001 to 9999 in UTC
	CodeDurationRange        Code = "DURATION_RANGE"        // out of range, or mixed signs
	CodeDateRange            Code = "DATE_RANGE"            // partial or impossible date
	CodeUUIDSyntax           Code = "UUID_SYNTAX"           // not 8-4-4-4-12 hex digits
	CodeStringUTF8           Code = "STRING_UTF8"           // ill-formed text
	CodeIntRange             Code = "INT_RANGE"             // outside the integer's type
	CodeKeyTooLong           Code = "KEY_TOO_LONG"          // a rendered template over 1024 bytes
	CodeKeyEmpty             Code = "KEY_EMPTY"             // a key of no bytes
	CodeKeyComponentMissing  Code = "KEY_COMPONENT_MISSING" // a field that the key needs is not set
	CodeKeySyntax            Code = "KEY_SYNTAX"            // a received key with a byte outside 0x21-0x7E
	CodePartitionCount       Code = "PARTITION_COUNT"       // a count outside 1 to 2^31-1
	CodeHeaderConflict       Code = "HEADER_CONFLICT"       // one header twice with different values
	CodeHeaderUTF8           Code = "HEADER_UTF8"           // a header's value is ill-formed text
	CodeHeaderSyntax         Code = "HEADER_SYNTAX"         // a header's value is not of its shape
	CodeHeaderRange          Code = "HEADER_RANGE"          // a header's value is out of its bounds
	CodeSpecVersion          Code = "SPEC_VERSION"          // idem_spec names a major version other than 1
	CodeStateCycle           Code = "STATE_CYCLE"           // transitions that lead back
	CodeStateUnknown         Code = "STATE_UNKNOWN"         // a state that no transition names
	CodeTransitionUndeclared Code = "TRANSITION_UNDECLARED" // (from, to) is no declared transition
	CodePolicyRange          Code = "POLICY_RANGE"          // a retry policy out of its bounds
	CodePayloadInvalid       Code = "PAYLOAD_INVALID"       // bytes that are no message of the type
	CodeInputInvalid         Code = "INPUT_INVALID"         // an argument of no known shape
)

// noOffset says that a fault has no place in the value.
const noOffset = -1

// maxExcerpt is the most bytes of a faulty value that an error repeats.
const maxExcerpt = 64

// Error is the one error type of this package.
type Error struct {
	// Code is the fault.
	Code Code
	// Field is the path of the message field, or the name of the header; empty where none is known.
	Field string
	// Offset is the position of the first faulty byte in the value, or -1.
	Offset int
	// Value is the faulty value, quoted and cut to 64 bytes around Offset; empty where there is none to
	// show, or none that may be shown.
	Value string
	// Detail says what is wrong, or what would be right, in words that contain nothing of the value.
	Detail string
}

// Error is one sentence from the outside in: field, code, rule, place, value.
func (e *Error) Error() string {
	s := "idem: "
	if e.Field != "" {
		s += e.Field + ": "
	}
	s += string(e.Code)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	switch {
	case e.Offset < 0 && e.Value != "":
		s += ": " + e.Value
	case e.Offset >= 0:
		s += ": byte " + strconv.Itoa(e.Offset) + " of " + e.Value
	}
	return s
}

// CodeOf returns the code of the first *Error in err's chain, and "" where there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// InField returns err with the path of the field it is about. An error that names a field already,
// or that is no *Error, is returned as it is. Generated code calls it.
func InField(err error, path string) error {
	var e *Error
	if !errors.As(err, &e) || e.Field != "" {
		return err
	}
	named := *e
	named.Field = path
	return &named
}

// Redacted returns err without the value and the place in it, for fields marked debug_redact. An
// error that is no *Error is returned as it is. Generated code calls it.
func Redacted(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	bare := *e
	bare.Value, bare.Offset = "", noOffset
	return &bare
}

// fault makes an error about a place in a value. Detail must not repeat the value.
func fault(code Code, value string, offset int, detail string) error {
	return &Error{Code: code, Offset: offset, Value: excerpt(value, offset), Detail: detail}
}

// rule makes an error without a value.
func rule(code Code, detail string) error {
	return &Error{Code: code, Offset: noOffset, Detail: detail}
}

// excerpt quotes the part of value around offset, cut at the edges of characters.
func excerpt(value string, offset int) string {
	from, to := 0, len(value)
	if to > maxExcerpt {
		if offset > maxExcerpt*3/4 {
			from = offset - maxExcerpt/2
		}
		if to-from > maxExcerpt {
			to = from + maxExcerpt
		} else {
			from = to - maxExcerpt
		}
	}
	for from > 0 && from < to && !utf8.RuneStart(value[from]) {
		from++
	}
	for to < len(value) && to > from && !utf8.RuneStart(value[to]) {
		to--
	}
	s := strconv.Quote(value[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(value) {
		s += "…"
	}
	return s
}
