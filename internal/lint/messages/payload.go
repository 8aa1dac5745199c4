package messages

import (
	"errors"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages/decode"
	"github.com/idem-spec/idem/internal/lint/messages/input"
)

var payloadRules = []*rule{
	{lint.Rule{
		ID: "IDEM_PAYLOAD_UNREADABLE", Kind: lint.Message, Category: lint.Value, Severity: lint.Error,
		Purpose: "Checks that a payload is a message of its type.",
		Spec:    []string{"CONS-005"},
	}, payloadUnreadable, unreadable},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_CONTENT_TYPE", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that a payload is what the header content-type says.",
		Spec:    []string{"CONS-030"},
	}, payloadContentType, headers | known},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_TOO_LARGE", Kind: lint.Message, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a payload is not larger than topics take.",
		Spec:    []string{"CONS-030"},
	}, payloadTooLarge, 0},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_FIELD_UNKNOWN", Kind: lint.Message, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a payload has no field that the schema does not know.",
		Spec:    []string{"KEY-012"},
	}, payloadFieldUnknown, content | odd},
	{lint.Rule{
		ID: "IDEM_PAYLOAD_ENUM_UNKNOWN", Kind: lint.Message, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a payload has no value of an enum that the schema does not declare.",
		Spec:    []string{"TXT-053"},
	}, payloadEnumUnknown, content | odd},
}

func payloadUnreadable(p *pass) {
	var line *input.LineError
	if errors.As(p.unreadable, &line) {
		p.reportf(line.Mend, "the line is no message: %v", line)
		return
	}
	name := "idem.v1.Envelope"
	if p.event != nil {
		name = string(p.event.Desc.FullName())
	}
	p.reportf("send the message of the event type, in the format that consumers read, and whole",
		"the payload of %d bytes, read as %s, is no %s: %v", len(p.message.Payload), p.format, name, p.unreadable)
}

// contentTypes are the names of the header, without case, '-' and '_'.
var contentTypes = map[string]bool{"contenttype": true, "datacontenttype": true, "cedatacontenttype": true}

func payloadContentType(p *pass) {
	var plain [maxShown]byte
	for _, h := range p.envelope.Unknown {
		if !contentTypes[string(plainName(plain[:0], h.Name))] {
			continue
		}
		said, sure := formatOfType(string(h.Value))
		if sure && len(p.message.Payload) > 0 && (said == JSON) != (p.format == JSON) {
			p.reportf("send the header of the format that the payload has", "the header %s says %s, and the payload is %s", h.Name, cut(string(h.Value)), p.format)
		}
	}
}

// formatOfType is the format that a media type names; false where it names another, or none.
func formatOfType(s string) (Format, bool) {
	s, _, _ = strings.Cut(strings.ToLower(s), ";")
	switch s = strings.TrimSpace(s); s {
	case "application/json", "application/cloudevents+json":
		return JSON, true
	case "application/protobuf", "application/x-protobuf", "application/vnd.google.protobuf", "application/octet-stream":
		return Protobuf, true
	}
	return JSON, strings.HasSuffix(s, "+json")
}

func payloadTooLarge(p *pass) {
	if n := len(p.message.Payload); n > p.options.MaxPayload {
		p.reportf("send a reference to what is large, or raise --max-payload with the max.message.bytes of the topic and of its retry and dead-letter topics",
			"the payload has %d bytes, and at most %d are expected", n, p.options.MaxPayload)
	}
}

func payloadFieldUnknown(p *pass) {
	for _, o := range p.decoder.Odd {
		if o.What == decode.UnknownField {
			p.reportf("give --schema the schema of the producer: no key can be made of what it does not know",
				"%s has no field %s, and the payload has", o.In.FullName(), shownName(o.Name))
		}
	}
}

// shownName is a name or a number.
func shownName(name string) string {
	if name != "" && strings.Trim(name, "0123456789") == "" {
		return name
	}
	return cut(name)
}

func payloadEnumUnknown(p *pass) {
	for _, o := range p.decoder.Odd {
		if o.What != decode.UnknownEnum {
			continue
		}
		value := shownName(o.Name)
		if o.Redacted {
			value = "a value that is not shown"
		}
		p.reportf("add the value to the enum, or give --schema the schema of the producer",
			"%s is %s, which %s does not declare", o.Field.FullName(), value, o.Field.Enum().FullName())
	}
}
