package messages

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint/messages/decode"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/idem/idempb"
	"github.com/idem-spec/idem/runtime/go/payload"
)

// Format is how payloads hold messages.
type Format uint8

// The formats. Auto tells the others but Envelope by the first byte: no message in binary begins with a 0,
// and none in use with a brace.
const (
	Auto Format = iota
	Protobuf
	JSON
	Confluent
	Envelope // an idem.v1.Envelope, with the message in it
)

var formatNames = [...]string{Auto: "auto", Protobuf: "protobuf", JSON: "json", Confluent: "confluent", Envelope: "envelope"}

// String is the format's name.
func (f Format) String() string { return formatNames[f] }

// Formats are the names of the formats.
func Formats() []string { return formatNames[:] }

// FormatOf is the format of a name.
func FormatOf(name string) (Format, error) {
	if i := slices.Index(formatNames[:], name); i >= 0 {
		return Format(i), nil
	}
	return 0, fmt.Errorf("--payload %s: it is auto, protobuf, json, confluent or envelope", name)
}

// unwrap takes the payload out of an envelope, whose headers are the message's.
func (p *pass) unwrap(raw []byte) []byte {
	if p.options.Format != Envelope || p.message.IsJSON {
		return raw
	}
	var e idempb.Envelope
	if err := proto.Unmarshal(raw, &e); err != nil {
		p.format, p.unreadable = Envelope, errors.New("it is cut off, or something else")
		p.event = nil
		return nil
	}
	p.message.Headers = p.merged(envelopeHeaders(&e))
	p.message.HasHeaders = true
	return e.GetPayload()
}

// envelopeHeaders are the fields of an envelope as headers. A field has the name of its header.
func envelopeHeaders(e *idempb.Envelope) idem.Headers {
	var all idem.Headers
	m := e.ProtoReflect()
	for _, id := range idem.HeaderIDs() {
		d := m.Descriptor().Fields().ByName(protoreflect.Name(id.String()))
		if d == nil || !m.Has(d) {
			continue
		}
		var value []byte
		if d.IsList() {
			list := m.Get(d).List()
			for i := range list.Len() {
				if i > 0 {
					value = append(value, ',')
				}
				value = idem.AppendInt(value, list.Get(i).Int())
			}
		} else {
			value = fmt.Append(nil, m.Get(d).Interface())
		}
		all = append(all, idem.Header{Name: id.String(), Value: value})
	}
	for _, h := range e.GetHeader() {
		all = append(all, idem.Header{Name: h.GetName(), Value: h.GetValue()})
	}
	return all
}

// merged are the envelope's headers and those of the message that it does not have.
func (p *pass) merged(all idem.Headers) idem.Headers {
	n := len(all)
	for _, h := range p.message.Headers {
		i := slices.IndexFunc(all[:n], func(e idem.Header) bool { return e.Name == h.Name })
		if i < 0 {
			all = append(all, h)
		} else if h.Value != nil && !bytes.Equal(h.Value, all[i].Value) {
			p.conflicts = append(p.conflicts, h.Name)
		}
	}
	return all
}

// decode reads the payload.
func (p *pass) decode(raw []byte) {
	p.format = p.formatOf(raw)
	switch p.format {
	case JSON:
		p.unreadable = p.decoder.JSON(p.event.plan, raw)
	case Confluent:
		p.unreadable = p.confluent(raw)
	default:
		p.unreadable = p.decoder.Binary(p.event.plan, raw)
	}
}

func (p *pass) formatOf(raw []byte) Format {
	switch f := p.options.Format; {
	case p.message.IsJSON:
		return JSON
	case f != Auto && f != Envelope:
		return f
	case len(raw) > 0 && raw[0] == '{':
		return JSON
	case len(raw) > 0 && raw[0] == 0:
		return Confluent
	}
	return Protobuf
}

func (p *pass) confluent(raw []byte) error {
	frame, err := payload.ReadFrame(raw)
	if err != nil {
		return err
	}
	if !slices.Equal(frame.Path, p.event.place) {
		return fmt.Errorf("it is the message %v of the file of schema %d, and %s is %v of its file",
			frame.Path, frame.SchemaID, p.event.Desc.FullName(), p.event.place)
	}
	err = p.decoder.Binary(p.event.plan, frame.Message)
	var e *decode.Error
	if errors.As(err, &e) && e.Offset >= 0 {
		return &decode.Error{Offset: e.Offset + len(raw) - len(frame.Message), What: e.What}
	}
	return err
}

// placeOf is the place of a message in its file, as the frame of a schema registry has it.
func placeOf(d protoreflect.Descriptor) []int {
	var place []int
	for {
		m, ok := d.(protoreflect.MessageDescriptor)
		if !ok {
			slices.Reverse(place)
			return place
		}
		place = append(place, m.Index())
		d = m.Parent()
	}
}
