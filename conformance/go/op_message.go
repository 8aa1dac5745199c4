package main

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/idem-spec/idem/golden/go/idem/conformance/edition2024/v1" // registers its messages
	_ "github.com/idem-spec/idem/golden/go/idem/conformance/v1"             // registers its messages
	"github.com/idem-spec/idem/runtime/go/idem"
)

// annotated is what generated code gives every message that has a key.
type annotated interface {
	proto.Message
	IdemEventType() string
	IdemHeaders(idem.Context) (idem.Headers, error)
}

// opMessage prints what generated code says that a producer sends.
func opMessage(in *object, out *output) error {
	message := newMessage(in.text("type"))
	payload := in.hex("payload")
	var c idem.Context
	if in.has("context") {
		o := in.child("context")
		c = decodeContext(&o)
		in.done(&o)
	}
	if !in.ok() || message == nil {
		return errInput
	}
	if err := proto.Unmarshal(payload, message); err != nil {
		return &idem.Error{Code: idem.CodePayloadInvalid, Offset: -1, Detail: err.Error()}
	}
	headers, err := message.IdemHeaders(c)
	if err != nil {
		return err
	}
	out.text("event_type", message.IdemEventType())
	for _, h := range headers {
		switch h.Name {
		case "idempotency_key", "idempotency_key_previous", "biz_key", "fingerprint":
			out.text(h.Name, string(h.Value))
		}
	}
	out.name("headers")
	out.line = append(out.line, '[')
	for i, h := range headers {
		writePair(out, i > 0, h.Name, "utf8", string(h.Value))
	}
	out.line = append(out.line, ']')
	return nil
}

// newMessage is an empty message of the type, and nil where there is no such type or it has no key.
func newMessage(name string) annotated {
	t, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	message, _ := t.New().Interface().(annotated)
	return message
}

func decodeContext(o *object) (c idem.Context) {
	c.EventID, _ = o.optionalText("event_id")
	c.Topic, _ = o.optionalText("topic")
	c.Traceparent, _ = o.optionalText("traceparent")
	c.Tracestate, _ = o.optionalText("tracestate")
	if text, there := o.optionalText("produced_at"); there {
		var ok bool
		c.ProducedAt, ok = headerTime(text)
		o.bad = o.bad || !ok
	}
	return c
}

// headerTime reads the form of HDR-003, which is stricter than the platform's parser.
func headerTime(text string) (time.Time, bool) {
	var e idem.Envelope
	header := idem.Header{Name: idem.NextRetryTime.String(), Value: []byte(text)}
	if err := e.Parse(idem.Kafka, idem.Headers{header}); err != nil {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}
