package checklist

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/render"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// Message is a sample of what the service consumes, with {id} or {n} where messages differ: JSON of a message of the
// schema, from which the headers are computed, or a file with the bytes as they are, whose headers are stated.
type Message struct {
	Topic string `yaml:"topic"`
	// Type is the full name of the message in the schema, and JSON its content.
	Type string `yaml:"type"`
	JSON any    `yaml:"json"`
	// Format is protobuf or json; default protobuf.
	Format string `yaml:"format"`
	// File has the payload; Key is the Kafka key.
	File    string            `yaml:"file"`
	Key     string            `yaml:"key"`
	Headers map[string]string `yaml:"headers"`

	// Prepare is SQL that makes what the message needs to be there: $1 is the ids, a text[].
	Prepare string `yaml:"prepare"`
	Effect  Effect `yaml:"effect"`
	// Hold is SQL that locks what the handler writes, so that the handler waits: $1 is the ids. It is for services that
	// call nothing.
	Hold string `yaml:"hold"`
}

// Effect is how effects are seen.
type Effect struct {
	// SQL gives rows of id and count; $1 is the ids, a text[].
	SQL string `yaml:"sql"`
	// URL gives a JSON array of objects, one for each effect, whose field Field has the id; or an object of ids and counts.
	URL   string `yaml:"url"`
	Field string `yaml:"field"`
	// Downstream counts what the downstream has answered: once for each idempotency key, and each call without one.
	Downstream bool `yaml:"downstream"`
}

func (m *Message) check(a *Adapter) error {
	count := 0
	for _, there := range []bool{m.Effect.SQL != "", m.Effect.URL != "", m.Effect.Downstream} {
		if there {
			count++
		}
	}
	switch {
	case m.Topic == "":
		return errors.New("no topic")
	case (m.Type == "") == (m.File == ""):
		return errors.New("it is of a type of the schema, with json, or a file of bytes")
	case m.Type != "" && m.JSON == nil:
		return errors.New("no json: the content of the message")
	case m.File != "" && m.Headers["idempotency_key"] == "":
		return errors.New("no headers.idempotency_key: of a message of bytes it has to be stated")
	case m.Format != "" && m.Format != "protobuf" && m.Format != "json":
		return fmt.Errorf("format %s: it is protobuf or json", m.Format)
	case count != 1:
		return errors.New("effect is one of sql, url and downstream: where is it seen that the message was done?")
	case (m.Effect.SQL != "" || m.Prepare != "" || m.Hold != "") && a.Postgres == nil:
		return errors.New("SQL needs postgres.url")
	case m.Effect.Downstream && a.Downstream == nil:
		return errors.New("effect.downstream needs downstream: {status: 200}")
	}
	return nil
}

// made is a message that was made: one of the world, however often it is sent.
type made struct {
	broker.Message
	of     *Message
	id     string
	key    string // idempotency key
	policy idem.Policy
	body   protoreflect.Message // nil where it is bytes
}

// maker makes messages.
type maker struct {
	adapter *Adapter
	set     *schema.Set // nil without --schema
	values  values
	next    int64
}

// make makes a new message with an id of its own.
func (k *maker) make(m *Message) (*made, error) {
	k.next++
	return k.makeOf(m, fmt.Sprint(k.next))
}

// makeOf makes the message of a number, for several messages about one thing.
func (k *maker) makeOf(m *Message, n string) (*made, error) {
	v := k.values.with("n", n)
	v["id"] = v.fill(k.adapter.ID)
	v["now"] = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	out := &made{of: m, id: v["id"], policy: idem.DefaultPolicy()}
	out.Topic = v.fill(m.Topic)
	var err error
	if m.Type == "" {
		err = k.bytes(out, v)
	} else {
		err = k.typed(out, v)
	}
	if err != nil {
		return nil, fmt.Errorf("make a message: %w", err)
	}
	return out, k.finish(out, v)
}

// set replaces a header.
func set(headers idem.Headers, name, value string) idem.Headers {
	headers = slices.DeleteFunc(slices.Clone(headers), func(h idem.Header) bool { return h.Name == name })
	return append(headers, idem.Header{Name: name, Value: []byte(value)})
}

func (k *maker) bytes(out *made, v values) error {
	data, err := os.ReadFile(filepath.Join(k.adapter.dir, out.of.File))
	if err != nil {
		return err
	}
	out.Value = []byte(v.fill(string(data)))
	if out.of.Key != "" {
		out.Key = []byte(v.fill(out.of.Key))
	}
	return nil
}

func (k *maker) typed(out *made, v values) error {
	if k.set == nil {
		return fmt.Errorf("%s is of a schema: name that by --schema", out.of.Type)
	}
	m := k.set.Message(protoreflect.FullName(out.of.Type))
	if m == nil {
		return fmt.Errorf("the schema has no message %s with option (idem.v1.message)", out.of.Type)
	}
	text, err := json.Marshal(v.fillAll(out.of.JSON))
	if err != nil {
		return err
	}
	body := dynamicpb.NewMessage(m.Desc)
	if err := protojson.Unmarshal(text, body); err != nil {
		return fmt.Errorf("json is no %s: %w", out.of.Type, err)
	}
	return k.fromBody(out, m, body)
}

// fromBody computes the payload and the headers as generated code does.
func (k *maker) fromBody(out *made, m *schema.Message, body protoreflect.Message) error {
	out.body = body
	var err error
	if out.of.Format == "json" {
		out.Value, err = protojson.Marshal(body.Interface())
	} else {
		out.Value, err = proto.MarshalOptions{Deterministic: true}.Marshal(body.Interface())
	}
	if err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	o := idem.Outgoing{EventType: m.EventType}
	for _, part := range []struct {
		template *schema.Template
		compute  func(*schema.Template, protoreflect.Message) (string, []render.Step, error)
		into     *[]byte
	}{
		{m.Key, render.Key, &o.IdempotencyKey}, {m.KeyPrevious, render.Key, &o.IdempotencyKeyPrevious},
		{m.BizKey, render.BizKey, &o.BizKey}, {m.Fingerprint, render.Fingerprint, &o.Fingerprint},
	} {
		if part.template == nil {
			continue
		}
		text, _, err := part.compute(part.template, body)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", part.template.Text, out.of.Type, err)
		}
		*part.into = []byte(text)
	}
	if m.OccurredAt != nil {
		if text, _, err := render.Template(&schema.Template{Segments: []schema.Segment{{Component: m.OccurredAt}}}, body); err == nil {
			o.OccurredAt = text
		}
	}
	if m.Transition != nil {
		o.From, o.HasTransition = m.Transition.From, true
	}
	if m.Retry != nil {
		o.Retry = m.PolicyInForce()
	}
	out.policy = *m.PolicyInForce()
	if len(o.BizKey) > 0 {
		out.Key = o.BizKey
	}
	out.Headers, err = idem.AppendHeaders(nil, &o, idem.Context{EventID: id.String(), Topic: out.Topic, ProducedAt: time.Now()})
	return err
}

// settle reads back what the headers say: the key, and the policy that delays are computed from.
func (m *made) settle() error {
	e, err := idem.ParseHeaders(idem.Kafka, m.Headers)
	if err != nil {
		return fmt.Errorf("headers of a message: %w", err)
	}
	m.key = e.IdempotencyKey
	if m.policy, err = idem.ResolvePolicy(e.Policy(), m.policy, idem.PartialPolicy{}); err != nil {
		return fmt.Errorf("headers of a message: %w", err)
	}
	return nil
}

// again computes payload and headers of a message whose body was changed.
func (k *maker) again(m *made) error {
	if err := k.fromBody(m, k.set.Message(protoreflect.FullName(m.of.Type)), m.body); err != nil {
		return err
	}
	return k.finish(m, k.values.with("id", m.id))
}

// finish puts the adapter's headers over those of the schema.
func (k *maker) finish(m *made, v values) error {
	for _, more := range []map[string]string{m.of.Headers, k.adapter.Headers} {
		for _, name := range slices.Sorted(maps.Keys(more)) {
			m.Headers = set(m.Headers, name, v.fill(more[name]))
		}
	}
	return m.settle()
}
