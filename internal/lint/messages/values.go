package messages

import (
	"errors"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages/decode"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var valueRules = []*rule{
	{lint.Rule{
		ID: "IDEM_PAYLOAD_COMPONENT_MISSING", Kind: lint.Message, Category: lint.Component, Severity: lint.Error,
		Purpose: "Checks that a payload has all fields of its keys and its fingerprint.",
		Spec:    []string{"KEY-004"},
	}, payloadComponentMissing, content | failing},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_KEY_TOO_LONG", Kind: lint.Message, Category: lint.Component, Severity: lint.Error,
		Purpose: "Checks that a payload gives keys of at most 1024 bytes.",
		Spec:    []string{"KEY-011"},
	}, payloadKeyTooLong, content | failing},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_VALUE_INVALID", Kind: lint.Message, Category: lint.Value, Severity: lint.Error,
		Purpose: "Checks that decimals, times, UUIDs and the other fields of keys have a canonical text.",
		Spec:    []string{"TXT-001", "TXT-005", "TXT-012", "TXT-022", "TXT-024", "TXT-032", "TXT-040", "TXT-060"},
	}, payloadValueInvalid, content},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_DECIMAL_NOT_CANONICAL", Kind: lint.Message, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that decimals in a payload are written canonically.",
		Spec:    []string{"TXT-004"},
	}, func(p *pass) { p.notCanonical(schema.DecimalText, "decimal") }, content | odd},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_TIMESTAMP_NOT_CANONICAL", Kind: lint.Message, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that timestamps in strings of a payload are in UTC, with a Z.",
		Spec:    []string{"TXT-020", "TXT-025"},
	}, func(p *pass) { p.notCanonical(schema.TimestampText, "timestamp") }, content | odd},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_UUID_NOT_CANONICAL", Kind: lint.Message, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that UUIDs in a payload are written in lower case.",
		Spec:    []string{"TXT-060"},
	}, func(p *pass) { p.notCanonical(schema.UUID, "UUID") }, content | odd},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_NUMBER_PRECISION", Kind: lint.Message, Category: lint.Value, Severity: lint.Error,
		Purpose: "Checks that no number in JSON was, or will be, a double on its way.",
		Spec:    []string{"TXT-001", "TXT-050"},
	}, payloadNumberPrecision, content | odd},
}

// failures visits the errors of the texts that the payload does not give, each code and field once.
func (p *pass) failures(visit func(of int, e *idem.Error)) {
	var before [texts]*idem.Error
	for of := range texts {
		err := p.text(of).err
		if err == nil {
			continue
		}
		e := asError(err)
		again := false
		for _, b := range before {
			again = again || b != nil && b.Code == e.Code && b.Field == e.Field
		}
		if before[of] = e; !again {
			visit(of, e)
		}
	}
}

// asError is the core's error in another; one without a code where there is none. It is a function of its
// own for its memory, which messages without an error do not take.
func asError(err error) *idem.Error {
	var e *idem.Error
	if !errors.As(err, &e) {
		return &idem.Error{Offset: -1, Detail: err.Error()}
	}
	return e
}

var textNames = [texts]string{
	ofKey: "idempotency key", ofPrevious: "previous key", ofBizKey: "biz key", ofFingerprint: "fingerprint", ofOccurredAt: "occurred_at",
}

func payloadComponentMissing(p *pass) {
	p.failures(func(of int, e *idem.Error) {
		switch e.Code {
		case idem.CodeKeyComponentMissing:
			p.reportf("set the field, or say (idem.v1.field).missing = MISSING_ALLOW where it may be missing",
				"%s has no %s: the field %s is not set", p.event.Desc.FullName(), textNames[of], e.Field)
		case idem.CodeKeyEmpty:
			p.reportf("set a field of it", "%s has no %s: all its fields are empty", p.event.Desc.FullName(), textNames[of])
		}
	})
}

func payloadKeyTooLong(p *pass) {
	p.failures(func(of int, e *idem.Error) {
		if e.Code == idem.CodeKeyTooLong {
			p.reportf("bound the field, or say (idem.v1.field).digest = DIGEST_SHA256 for it",
				"the %s of %s has more than %d bytes", textNames[of], p.event.Desc.FullName(), idem.MaxKeyLen)
		}
	})
}

func payloadValueInvalid(p *pass) {
	if p.has&(odd|failing) == 0 {
		return
	}
	var fields []string // by their names alone: the same field is a component, and a text of its own
	for _, o := range p.decoder.Odd {
		if o.What == decode.Invalid {
			fields = append(fields, string(o.Field.Name()))
			p.invalid(string(o.Field.FullName()), o.Err)
		}
	}
	p.failures(func(_ int, e *idem.Error) {
		name := e.Field[strings.LastIndexByte(e.Field, '.')+1:]
		switch e.Code {
		case idem.CodeKeyComponentMissing, idem.CodeKeyEmpty, idem.CodeKeyTooLong:
			return
		}
		for _, f := range fields {
			if f == name {
				return
			}
		}
		plain := *e
		plain.Field = ""
		p.invalid(string(p.event.Desc.FullName())+"."+e.Field, &plain)
	})
}

func (p *pass) invalid(field string, err error) {
	p.reportf("send a value that chapter 2 of the spec has a text for", "%s: %s", field, strings.TrimPrefix(err.Error(), "idem: "))
}

func (p *pass) notCanonical(kind schema.Kind, name string) {
	for _, o := range p.decoder.Odd {
		if o.What != decode.NotCanonical || o.Kind != kind {
			continue
		}
		what := "in another way than the canonical one (not shown: debug_redact)"
		if !o.Redacted {
			what = cut(o.Value) + ", which is " + cut(o.Canonical)
		}
		p.reportf("write it canonically: keys are equal all the same, and whoever compares payloads sees a difference",
			"the %s %s is written %s", name, o.Field.FullName(), what)
	}
}

func payloadNumberPrecision(p *pass) {
	for _, o := range p.decoder.Odd {
		value := "a number (not shown: debug_redact)"
		if !o.Redacted {
			value = cut(o.Value)
			value = value[1 : len(value)-1] // numbers have nothing to quote, but for the mark of a cut
		}
		switch o.What {
		case decode.NumberText:
			p.reportf("write it as a string, \"100.00\": JSON's numbers are doubles to most who read them",
				"%s is a string, and the JSON has the number %s", o.Field.FullName(), value)
		case decode.Fraction:
			p.reportf("let the producer keep it an integer: a point or an exponent shows that it was a double",
				"%s is an integer, and the JSON has %s", o.Field.FullName(), value)
		case decode.Unquoted:
			p.reportf("write integers of 64 bits as strings, as protobuf's JSON does",
				"%s is the JSON number %s, beyond 2^53: whoever reads it as a double has another one", o.Field.FullName(), value)
		}
	}
}
