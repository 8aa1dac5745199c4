// Package payload shows the payloads of messages by a schema, without the fields that nobody may see, and makes
// payloads that were repaired by hand.
package payload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/dynamic"
	"github.com/idem-spec/idem/internal/render"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
	wire "github.com/idem-spec/idem/runtime/go/payload"
)

// Schema knows the messages by their event types.
type Schema struct {
	messages map[string]*schema.Message
	types    *dynamicpb.Types
}

// Read reads a directory of .proto files, or an image.
func Read(ctx context.Context, name string) (*Schema, error) {
	files, err := source.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	set, problems := schema.Build(files.All, files.Paths)
	if len(problems) > 0 {
		return nil, errors.New(schema.Report(problems))
	}
	registry := &protoregistry.Files{}
	for _, file := range files.All {
		if err := register(registry, file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	s := &Schema{messages: map[string]*schema.Message{}, types: dynamicpb.NewTypes(registry)}
	for _, file := range set.Files {
		for _, m := range file.Messages {
			s.messages[m.EventType] = m
		}
	}
	if len(s.messages) == 0 {
		return nil, fmt.Errorf("%s has no message with option (idem.v1.message)", name)
	}
	return s, nil
}

// register adds a file that is not there yet: one that two others import comes twice.
func register(files *protoregistry.Files, file protoreflect.FileDescriptor) error {
	if _, err := files.FindFileByPath(file.Path()); err == nil {
		return nil
	}
	return files.RegisterFile(file)
}

// Shown is a payload that may be shown.
type Shown struct {
	// Message is its full name.
	Message string
	// JSON is the message in protobuf's JSON, without what is hidden.
	JSON []byte
	// Hidden are the paths of fields that are marked debug_redact, and of what nobody can look into.
	Hidden []string
}

// Show decodes a payload.
func (s *Schema) Show(eventType string, payload []byte) (*Shown, error) {
	shown, _, err := s.show(eventType, payload)
	return shown, err
}

func (s *Schema) show(eventType string, payload []byte) (*Shown, *redactor, error) {
	m, err := s.message(eventType)
	if err != nil {
		return nil, nil, err
	}
	if err := s.decode(payload, m); err != nil {
		return nil, nil, err
	}
	r := &redactor{types: s.types, hidden: map[string][]string{}}
	r.message(m.ProtoReflect(), "", 0)
	text, err := protojson.MarshalOptions{Multiline: true, Indent: "  ", UseProtoNames: true, Resolver: s.types}.Marshal(m)
	if err != nil {
		return nil, nil, fmt.Errorf("show %s as JSON: it has a value that JSON cannot hold", m.Descriptor().FullName())
	}
	for _, values := range r.hidden {
		slices.Sort(values)
	}
	slices.Sort(r.unknown)
	return &Shown{string(m.Descriptor().FullName()), text, slices.Sorted(maps.Keys(r.hidden))}, r, nil
}

// decode reads a payload. Its errors name no value.
func (s *Schema) decode(payload []byte, m *dynamicpb.Message) error {
	format := formatOf(payload, m)
	if format != wire.JSON {
		return dynamic.Guard(func() error { return wire.Decode(format, payload, m) })
	}
	// A message within an Any is of the schema, too.
	if (protojson.UnmarshalOptions{DiscardUnknown: true, Resolver: s.types}).Unmarshal(payload, m) == nil {
		return nil
	}
	return wire.Decode(format, payload, m)
}

// Encode makes the payload of a message in protobuf's JSON, in the format of the payload that it replaces. Fields that
// Show hides are kept from there, unless the text has them.
func (s *Schema) Encode(eventType string, text, old []byte) ([]byte, error) {
	m, err := s.message(eventType)
	if err != nil {
		return nil, err
	}
	// Unlike a consumer it refuses a field that is misspelled.
	if err := (protojson.UnmarshalOptions{Resolver: s.types}).Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("it is no %s in JSON: %w", m.Descriptor().FullName(), err)
	}
	kept := false
	if before, err := s.message(eventType); err == nil && s.decode(old, before) == nil {
		kept = keepHidden(before.ProtoReflect(), m.ProtoReflect(), 0)
	}
	format := formatOf(old, m)
	switch {
	case format == wire.JSON && !kept:
		return text, nil
	case format == wire.JSON:
		return protojson.MarshalOptions{Resolver: s.types}.Marshal(m)
	}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil || format != wire.Confluent {
		return encoded, err
	}
	frame, err := wire.ReadFrame(old)
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(old[:len(old)-len(frame.Message)]), encoded...), nil
}

// Lost are the paths of fields that Show hides, and that a repaired payload lacks: those within lists and maps, and within
// messages that it has not.
func (s *Schema) Lost(eventType string, old, repaired []byte) ([]string, error) {
	had, err := s.Show(eventType, old)
	if err != nil {
		return nil, nil //nolint:nilerr // what cannot be read was shown to nobody
	}
	has, err := s.Show(eventType, repaired)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(had.Hidden, func(path string) bool { return slices.Contains(has.Hidden, path) }), nil
}

// Same says that two payloads say the same, whatever their bytes: then nothing was repaired.
func (s *Schema) Same(eventType string, a, b []byte) bool {
	one, err := s.message(eventType)
	if err != nil {
		return false
	}
	other := one.New().Interface().(*dynamicpb.Message)
	return s.decode(a, one) == nil && s.decode(b, other) == nil && proto.Equal(one, other)
}

// OtherKey is the key of a payload by its fields, where that is not the one that is given.
func (s *Schema) OtherKey(eventType, key string, payload []byte) (own string, other bool, err error) {
	m, err := s.message(eventType)
	if err != nil {
		return "", false, err
	}
	if err := s.decode(payload, m); err != nil {
		return "", false, err
	}
	own, other = otherKey(s.messages[eventType], key, m)
	return own, other, nil
}

// otherKey is the key of a message where it is not the one that is given, which may be of the previous template, too.
func otherKey(of *schema.Message, key string, m *dynamicpb.Message) (own string, other bool) {
	for _, template := range []*schema.Template{of.KeyPrevious, of.Key} {
		if template == nil {
			continue
		}
		text, _, err := render.Key(template, m.ProtoReflect())
		if err != nil || text == key {
			return "", false
		}
		own = text
	}
	return own, own != "" && key != ""
}

func (s *Schema) message(eventType string) (*dynamicpb.Message, error) {
	if d := s.messages[eventType]; d != nil {
		return dynamicpb.NewMessage(d.Desc), nil
	}
	return nil, fmt.Errorf("the schema has no message with the event type %q", eventType)
}

// formatOf looks at the first byte: no message begins with a tag of the field 0, and one that begins with the byte of
// { would begin with a group, which messages of idem have none of. The blanks before a { may be tags, and it a length:
// a first field of 123 bytes begins with a line break and a {.
func formatOf(payload []byte, m *dynamicpb.Message) wire.Format {
	text := bytes.TrimLeft(payload, " \t\r\n")
	switch {
	case len(payload) > 0 && payload[0] == 0:
		return wire.Confluent
	case !bytes.HasPrefix(text, []byte("{")):
		return wire.Protobuf
	case len(text) < len(payload) && !json.Valid(text) && dynamic.Unmarshal(payload, m.New().Interface()) == nil:
		return wire.Protobuf
	}
	return wire.JSON
}

// Digest is the SHA-256 of a payload, in hex.
func Digest(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}
