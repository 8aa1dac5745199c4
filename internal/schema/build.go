package schema

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Link makes descriptors of files that come in any order, imports included.
func Link(files []*descriptorpb.FileDescriptorProto) ([]protoreflect.FileDescriptor, error) {
	registry, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: files})
	if err != nil {
		return nil, fmt.Errorf("the compiler's descriptors do not fit together: %w", err)
	}
	var linked []protoreflect.FileDescriptor
	registry.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		linked = append(linked, f)
		return true
	})
	return linked, nil
}

// Build reads the options of the files with the given paths, and of what they refer to. files are
// these and others, at least what they import, in any order; neither order shows in the result.
//
// Where there is a problem, the set lacks what it is about. Options are also checked where nothing
// uses them.
func Build(files []protoreflect.FileDescriptor, paths []string) (*Set, []Problem) {
	b := &builder{
		set:    &Set{messages: make(map[protoreflect.FullName]*Message), enums: make(map[protoreflect.FullName]*Enum)},
		files:  files,
		fields: make(map[protoreflect.FieldDescriptor]*fieldInfo),
		built:  make(map[protoreflect.FullName]bool),
	}
	wanted := make(map[string]bool, len(paths))
	for _, path := range paths {
		wanted[path] = true
	}
	for _, f := range files {
		if wanted[f.Path()] {
			wanted[f.Path()] = false
			b.set.Files = append(b.set.Files, &File{Desc: f})
		}
	}
	slices.SortFunc(b.set.Files, func(a, b *File) int { return cmp.Compare(a.Desc.Path(), b.Desc.Path()) })
	// Enums first, since transitions refer to them.
	for _, f := range b.set.Files {
		b.enumsOf(f, f.Desc.Enums())
		b.messagesOf(f, f.Desc.Messages(), b.enumsIn)
	}
	for _, f := range b.set.Files {
		b.messagesOf(f, f.Desc.Messages(), b.message)
	}
	b.checkEventTypes()
	b.set.fields = b.fields
	return b.set, Sorted(b.problems)
}

// builder is one run of Build.
type builder struct {
	set      *Set
	files    []protoreflect.FileDescriptor
	problems []Problem
	// fields remembers the options of fields, which several templates may name.
	fields map[protoreflect.FieldDescriptor]*fieldInfo
	// built is the enums that were read, with a result or without.
	built map[protoreflect.FullName]bool
	// index finds descriptors by name; made when the first transition needs it.
	index *protoregistry.Files
}

func (b *builder) problem(p Place, rule, what, mend string) {
	b.problems = append(b.problems, p.Problem(rule, what, mend))
}

// messagesOf visits messages and those inside them, in the order of the file.
func (b *builder) messagesOf(f *File, messages protoreflect.MessageDescriptors, visit func(*File, protoreflect.MessageDescriptor)) {
	for i := 0; i < messages.Len(); i++ {
		if m := messages.Get(i); !m.IsMapEntry() {
			visit(f, m)
			b.messagesOf(f, m.Messages(), visit)
		}
	}
}

func (b *builder) enumsIn(f *File, m protoreflect.MessageDescriptor) { b.enumsOf(f, m.Enums()) }

func (b *builder) enumsOf(f *File, enums protoreflect.EnumDescriptors) {
	for i := 0; i < enums.Len(); i++ {
		if e := b.enum(enums.Get(i)); e != nil {
			f.Enums = append(f.Enums, e)
		}
	}
}

// message reads a message's option and checks those of its fields.
func (b *builder) message(f *File, d protoreflect.MessageDescriptor) {
	for i := 0; i < d.Fields().Len(); i++ {
		if field := d.Fields().Get(i); mentions(field.Options().ProtoReflect(), extension) {
			b.field(field)
		}
	}
	option := b.messageOption(d)
	if option == nil {
		return
	}
	if m := b.readMessage(d, option); m != nil {
		f.Messages = append(f.Messages, m)
		b.set.messages[d.FullName()] = m
	}
}

// findEnum finds an enum by its full name in all files.
func (b *builder) findEnum(name protoreflect.FullName) protoreflect.EnumDescriptor {
	if b.index == nil {
		b.index = new(protoregistry.Files)
		for _, f := range b.files {
			_ = b.index.RegisterFile(f)
		}
	}
	d, err := b.index.FindDescriptorByName(name)
	if err != nil {
		return nil
	}
	e, _ := d.(protoreflect.EnumDescriptor)
	return e
}

// checkEventTypes refuses an event type that two messages have. (OPT-011)
func (b *builder) checkEventTypes() {
	first := make(map[string]*Message)
	for _, f := range b.set.Files {
		for _, m := range f.Messages {
			other, taken := first[m.EventType]
			if !taken {
				first[m.EventType] = m
				continue
			}
			b.problem(keyPlace(m.Desc), "OPT-011",
				fmt.Sprintf("%s has the event type %s of %s", short(m.Desc.FullName()), quote(m.EventType), short(other.Desc.FullName())),
				"give each message an event type of its own: consumers tell messages apart by it")
		}
	}
}

func keyPlace(d protoreflect.MessageDescriptor) Place {
	return at(d, extension, KeyNumber)
}
