package changes

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// side is one of the two schemas.
type side struct {
	set      *schema.Set
	problems []schema.Problem
	// files, messages and enums are all that the compared files declare, annotated or not.
	files    map[string]protoreflect.FileDescriptor
	messages map[protoreflect.FullName]protoreflect.MessageDescriptor
	enums    map[protoreflect.FullName]protoreflect.EnumDescriptor
}

func newSide(in Side) *side {
	s := &side{
		files:    make(map[string]protoreflect.FileDescriptor),
		messages: make(map[protoreflect.FullName]protoreflect.MessageDescriptor),
		enums:    make(map[protoreflect.FullName]protoreflect.EnumDescriptor),
	}
	s.set, s.problems = schema.Build(in.Files, in.Paths)
	for _, f := range s.set.Files {
		s.files[f.Desc.Path()] = f.Desc
		s.declared(f.Desc)
	}
	return s
}

// declared remembers what a file, or a message, declares.
func (s *side) declared(in interface {
	Messages() protoreflect.MessageDescriptors
	Enums() protoreflect.EnumDescriptors
}) {
	for i := range in.Enums().Len() {
		e := in.Enums().Get(i)
		s.enums[e.FullName()] = e
	}
	for i := range in.Messages().Len() {
		m := in.Messages().Get(i)
		s.messages[m.FullName()] = m
		s.declared(m)
	}
}

// annotated are the annotated messages, in the order of files and of declaration.
func (s *side) annotated(yield func(*schema.Message) bool) {
	for _, f := range s.set.Files {
		for _, m := range f.Messages {
			if !yield(m) {
				return
			}
		}
	}
}

func (s *side) annotatedEnums(yield func(*schema.Enum) bool) {
	for _, f := range s.set.Files {
		for _, e := range f.Enums {
			if !yield(e) {
				return
			}
		}
	}
}

// pair is a message before and after. Neither is nil, and both can be generated.
type pair struct{ before, after *schema.Message }

// enumPair is an enum before and after. Neither is nil.
type enumPair struct{ before, after *schema.Enum }

// pairMessages pairs messages by their full names; what is left by event types, since a message that is
// renamed or moved stays the same message in flight.
func (p *pass) pairMessages() {
	p.pairOf = make(map[*schema.Message]*pair)
	moved := make(map[string]*schema.Message)
	for m := range p.after.annotated {
		if p.before.set.Message(m.Desc.FullName()) == nil {
			moved[m.EventType] = m
		}
	}
	for m := range p.before.annotated {
		other := p.after.set.Message(m.Desc.FullName())
		if other == nil && p.after.messages[m.Desc.FullName()] == nil {
			other = moved[m.EventType]
		}
		if other != nil && whole(m) && whole(other) {
			p.messages = append(p.messages, &pair{before: m, after: other})
			p.pairOf[m] = p.messages[len(p.messages)-1]
		}
	}
}

// whole says whether all that a message states could be read. The rest is refused when it is generated.
func whole(m *schema.Message) bool {
	o := m.Options
	return (o.IdempotencyKeyPrevious == nil || m.KeyPrevious != nil) &&
		(o.BizKey == nil || m.BizKey != nil) &&
		(o.Fingerprint == nil || m.Fingerprint != nil) &&
		(o.OccurredAt == nil || m.OccurredAt != nil) &&
		(o.Transition == nil || m.Transition != nil)
}

// counterpart is the pair of a message of Before, or nil.
func (p *pass) counterpart(m *schema.Message) *pair { return p.pairOf[m] }

// pairEnums pairs enums by their full names; what is left by what paired messages name as their state
// machine, and by their simple names.
func (p *pass) pairEnums() {
	machines := make(map[*schema.Enum]*schema.Enum)
	for _, m := range p.messages {
		if m.before.Transition != nil && m.after.Transition != nil {
			machines[m.before.Transition.Enum] = m.after.Transition.Enum
		}
	}
	named := make(map[protoreflect.Name]*schema.Enum)
	for e := range p.after.annotatedEnums {
		if p.before.set.Enum(e.Desc.FullName()) == nil {
			named[e.Desc.Name()] = e
		}
	}
	for e := range p.before.annotatedEnums {
		other := p.after.set.Enum(e.Desc.FullName())
		if other == nil && p.after.enums[e.Desc.FullName()] == nil {
			if other = machines[e]; other == nil {
				other = named[e.Desc.Name()]
			}
		}
		if other != nil {
			p.enums = append(p.enums, &enumPair{e, other})
		}
	}
}
