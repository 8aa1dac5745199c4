package schema

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// The numbers of google/protobuf/java_features.proto, whose Go nobody links in.
const (
	javaFeatures     = 1001
	legacyClosedEnum = 1
)

// Edition is the edition of a file, where proto2 and proto3 are editions too.
func Edition(f protoreflect.FileDescriptor) descriptorpb.Edition {
	switch f.Syntax() {
	case protoreflect.Proto2:
		return descriptorpb.Edition_EDITION_PROTO2
	case protoreflect.Proto3:
		return descriptorpb.Edition_EDITION_PROTO3
	}
	if d, ok := f.(interface{ Edition() int32 }); ok {
		return descriptorpb.Edition(d.Edition())
	}
	return descriptorpb.Edition_EDITION_2023
}

// Features lists the features that are stated on a declaration and on what it is in, the nearest first.
func Features(d protoreflect.Descriptor) []*descriptorpb.FeatureSet {
	var all []*descriptorpb.FeatureSet
	for ; d != nil; d = d.Parent() {
		if o, ok := d.Options().(interface {
			GetFeatures() *descriptorpb.FeatureSet
		}); ok && o.GetFeatures() != nil {
			all = append(all, o.GetFeatures())
		}
	}
	return all
}

// JavaFeature is the nearest value of a feature of Java, or otherwise.
func JavaFeature(d protoreflect.Descriptor, number protowire.Number, otherwise uint64) uint64 {
	for _, f := range Features(d) {
		if v, ok := javaFeatureIn(f, number); ok {
			return v
		}
	}
	return otherwise
}

// javaFeatureIn finds a feature in the wire format, since it comes as an unknown field, or as an
// extension of whoever compiled the file.
func javaFeatureIn(f *descriptorpb.FeatureSet, number protowire.Number) (value uint64, found bool) {
	b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(f)
	if err != nil {
		return 0, false
	}
	eachField(b, func(n protowire.Number, raw []byte, _ uint64) {
		if n != javaFeatures {
			return
		}
		eachField(raw, func(n protowire.Number, _ []byte, v uint64) {
			if n == number {
				value, found = v, true
			}
		})
	})
	return value, found
}

// eachField visits the bytes and varint fields of a message.
func eachField(b []byte, visit func(n protowire.Number, raw []byte, varint uint64)) {
	for len(b) > 0 {
		n, t, size := protowire.ConsumeTag(b)
		if size < 0 {
			return
		}
		b = b[size:]
		switch t {
		case protowire.BytesType:
			raw, size := protowire.ConsumeBytes(b)
			if size < 0 {
				return
			}
			visit(n, raw, 0)
			b = b[size:]
		case protowire.VarintType:
			v, size := protowire.ConsumeVarint(b)
			if size < 0 {
				return
			}
			visit(n, nil, v)
			b = b[size:]
		default:
			size := protowire.ConsumeFieldValue(n, t, b)
			if size < 0 {
				return
			}
			b = b[size:]
		}
	}
}

// ClosedInJava says whether Java keeps a number of the field that its enum does not declare among the
// unknown fields: so it does in a proto2 file, whatever file the enum is in, and then there is no
// getter for the number.
func ClosedInJava(d protoreflect.FieldDescriptor) bool {
	if d.Enum().IsClosed() {
		return true
	}
	var legacy uint64
	if Edition(d.ParentFile()) < descriptorpb.Edition_EDITION_PROTO3 {
		legacy = 1
	}
	return JavaFeature(d, legacyClosedEnum, legacy) != 0
}
