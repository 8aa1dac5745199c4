package schema

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// The numbers of the extensions. (OPT-001)
const (
	extension      = 73157
	errorExtension = 73158
)

// resolver knows the options of idem and no other extension.
var resolver = func() *protoregistry.Types {
	types := new(protoregistry.Types)
	for _, x := range []protoreflect.ExtensionType{
		idempb.E_Message, idempb.E_Field, idempb.E_StateMachine, idempb.E_State, idempb.E_Error,
	} {
		if err := types.RegisterExtension(x); err != nil {
			panic(err) // two options of one number
		}
	}
	return types
}()

// Annotated says whether a message has (idem.v1.message), or an enum (idem.v1.state_machine), whether it can be
// read or not.
func Annotated(d protoreflect.Descriptor) bool {
	return d.Options() != nil && mentions(d.Options().ProtoReflect(), extension)
}

// messageOption returns (idem.v1.message) of a message, and nil where it has none.
func (b *builder) messageOption(d protoreflect.MessageDescriptor) *idempb.MessageOptions {
	option, _ := b.option(at(d, extension), idempb.E_Message).(*idempb.MessageOptions)
	return option
}

func (b *builder) fieldOption(d protoreflect.FieldDescriptor) *idempb.FieldOptions {
	option, _ := b.option(at(d, extension), idempb.E_Field).(*idempb.FieldOptions)
	return option
}

func (b *builder) machineOption(d protoreflect.EnumDescriptor) *idempb.StateMachineOptions {
	option, _ := b.option(at(d, extension), idempb.E_StateMachine).(*idempb.StateMachineOptions)
	return option
}

func (b *builder) stateOption(d protoreflect.EnumValueDescriptor) *idempb.StateOptions {
	option, _ := b.option(at(d, extension), idempb.E_State).(*idempb.StateOptions)
	return option
}

func (b *builder) errorOption(d protoreflect.EnumValueDescriptor) *idempb.ErrorOptions {
	option, _ := b.option(at(d, errorExtension), idempb.E_Error).(*idempb.ErrorOptions)
	return option
}

// option reads an option of idem, and nil where the declaration has none. An option that cannot be
// read, or that has a part which this version does not know, is a problem: a part that is passed over
// might change a key.
func (b *builder) option(p Place, x protoreflect.ExtensionType) any {
	options := p.decl.Options()
	number := protoreflect.FieldNumber(p.option[0])
	if options == nil || !mentions(options.ProtoReflect(), number) {
		return nil
	}
	name := "(" + string(x.TypeDescriptor().FullName()) + ")"
	option, err := reread(options, x)
	if err != nil {
		b.problem(p, "OPT-002", name+" cannot be read", "it was not compiled from idem/v1/options.proto")
		return nil
	}
	if unknown := unknownNumber(option.ProtoReflect()); unknown != 0 {
		b.problem(p, "OPT-002", name+" has something that this version does not know", "update protoc-gen-idem and the linter, or compile against their idem/v1/options.proto")
		return nil
	}
	return option
}

// mentions says whether a message has a field of that number, known or not.
func mentions(m protoreflect.Message, number protoreflect.FieldNumber) bool {
	if !m.IsValid() {
		return false
	}
	found := false
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		found = fd.Number() == number
		return !found
	})
	for unknown := m.GetUnknown(); !found && len(unknown) > 0; {
		n, _, length := protowire.ConsumeField(unknown)
		if length < 0 {
			break
		}
		found = n == number
		unknown = unknown[length:]
	}
	return found
}

// reread parses options again with the options of idem known. So it does not matter whether the
// compiler gave them as an extension of this program's, of its own making, or as unknown fields.
func reread(options proto.Message, x protoreflect.ExtensionType) (proto.Message, error) {
	if value := known(options.ProtoReflect(), x.TypeDescriptor().Number()); value != nil {
		b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(value)
		if err != nil {
			return nil, err
		}
		fresh := x.New().Message().Interface()
		return fresh, proto.UnmarshalOptions{AllowPartial: true, Resolver: resolver}.Unmarshal(b, fresh)
	}
	b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(options)
	if err != nil {
		return nil, err
	}
	var fresh proto.Message
	switch x.TypeDescriptor().ContainingMessage().Name() {
	case "MessageOptions":
		fresh = new(descriptorpb.MessageOptions)
	case "FieldOptions":
		fresh = new(descriptorpb.FieldOptions)
	case "EnumOptions":
		fresh = new(descriptorpb.EnumOptions)
	default:
		fresh = new(descriptorpb.EnumValueOptions)
	}
	if err := (proto.UnmarshalOptions{AllowPartial: true, Resolver: resolver}).Unmarshal(b, fresh); err != nil {
		return nil, err
	}
	if !proto.HasExtension(fresh, x) {
		return nil, errors.New("not of the option's wire type")
	}
	return proto.GetExtension(fresh, x).(proto.Message), nil
}

// known is the value of an extension that whoever read the options knew, or nil.
func known(options protoreflect.Message, number protoreflect.FieldNumber) (value proto.Message) {
	options.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.Number() != number {
			return true
		}
		if fd.Message() != nil && !fd.IsList() && !fd.IsMap() {
			value = v.Message().Interface()
		}
		return false
	})
	return value
}

// unknownNumber returns the number of a field that idem/v1/options.proto does not have, also below,
// and 0 where there is none. The options of idem do not contain each other, so that this ends.
func unknownNumber(m protoreflect.Message) (number protoreflect.FieldNumber) {
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		number, _, _ = protowire.ConsumeField(unknown)
		return number
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() == nil:
		case fd.IsList():
			for i := 0; i < v.List().Len() && number == 0; i++ {
				number = unknownNumber(v.List().Get(i).Message())
			}
		default:
			number = unknownNumber(v.Message())
		}
		return number == 0
	})
	return number
}

// redacted says whether a field is marked debug_redact.
func redacted(d protoreflect.FieldDescriptor) bool {
	options, ok := d.Options().(*descriptorpb.FieldOptions)
	return ok && options.GetDebugRedact()
}
