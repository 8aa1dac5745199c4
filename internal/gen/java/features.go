package java

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/schema"
)

// Of google/protobuf/java_features.proto, whose Go nobody links in.
const (
	nestInFileClass    = 5
	nestInFileClassYes = 2
)

// checksUTF8 says whether Java's parser refuses ill-formed text in the field. Where it does not, the
// field's getter replaces what is ill-formed.
func checksUTF8(d protoreflect.FieldDescriptor) bool {
	for _, f := range schema.Features(d) {
		if f.Utf8Validation != nil {
			return f.GetUtf8Validation() != descriptorpb.FeatureSet_NONE
		}
	}
	return schema.Edition(d.ParentFile()) >= descriptorpb.Edition_EDITION_PROTO3
}
