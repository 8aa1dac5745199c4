package changes_test

import (
	"strings"
	"testing"

	"github.com/bufbuild/protocompile/protoutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
)

// The numbers of (idem.v1.field) and of its part digest.
const (
	fieldExtension = 73157
	digestNumber   = 6
)

// Each component of the vectors' schema, which has all kinds in all syntaxes, is found with an example
// where its field gets another number, and where it becomes a digest or stops being one.
func TestComponentOfEachKindIsFoundWithAnExample(t *testing.T) {
	t.Parallel()
	before := conformanceSchema(t)
	set, problems := schema.Build(before.All, before.Paths)
	require.Empty(t, problems)
	seen := make(map[protoreflect.FullName]bool)
	for _, f := range set.Files {
		for _, m := range f.Messages {
			for _, s := range m.Key.Segments {
				if s.Component == nil || seen[s.Component.Leaf().FullName()] {
					continue
				}
				leaf := s.Component.Leaf()
				seen[leaf.FullName()] = true
				t.Run(string(leaf.FullName()), func(t *testing.T) {
					t.Parallel()
					speaks(t, before, leaf, "IDEM_COMPONENT_NUMBER_CHANGED", func(f *descriptorpb.FieldDescriptorProto) { f.Number = proto.Int32(9000) })
					speaks(t, before, leaf, "IDEM_COMPONENT_DIGEST_CHANGED", func(f *descriptorpb.FieldDescriptorProto) { setDigest(t, f, !s.Component.Digest) })
				})
			}
		}
	}
	assert.Greater(t, len(seen), 100)
}

// setDigest adds to the options of a field, in bytes: what comes last counts.
func setDigest(t *testing.T, f *descriptorpb.FieldDescriptorProto, yes bool) {
	t.Helper()
	options, err := proto.Marshal(f.GetOptions())
	require.NoError(t, err)
	part := protowire.AppendVarint(protowire.AppendTag(nil, digestNumber, protowire.VarintType), protowire.EncodeBool(yes))
	options = protowire.AppendBytes(protowire.AppendTag(options, fieldExtension, protowire.BytesType), part)
	f.Options = new(descriptorpb.FieldOptions)
	require.NoError(t, proto.Unmarshal(options, f.Options))
}

// speaks changes a field, and asks for a finding of the rule that names it and shows what differs. Where
// the field cannot be generated any more, that is said instead.
func speaks(t *testing.T, before *source.Files, leaf protoreflect.FieldDescriptor, rule string, change func(*descriptorpb.FieldDescriptorProto)) {
	t.Helper()
	var files []*descriptorpb.FileDescriptorProto
	for _, f := range before.All {
		file := proto.CloneOf(protoutil.ProtoFromFileDescriptor(f))
		if f.Path() == leaf.ParentFile().Path() {
			change(fieldIn(file, leaf))
		}
		files = append(files, file)
	}
	linked, err := schema.Link(files)
	require.NoError(t, err)
	spoken := false
	paths := []string{leaf.ParentFile().Path()}
	for _, f := range found(&source.Files{All: before.All, Paths: paths}, &source.Files{All: linked, Paths: paths}) {
		if f.Rule.ID == "IDEM_GENERATION_REFUSED" || f.Rule.ID == rule && strings.HasPrefix(f.What, string(leaf.FullName())+" ") {
			spoken = true
			assert.NotEqual(t, f.Before, f.After, f.What)
		}
	}
	assert.True(t, spoken, "nobody speaks of it: %s", rule)
}

// fieldIn is the declaration of a field in its file.
func fieldIn(file *descriptorpb.FileDescriptorProto, field protoreflect.FieldDescriptor) *descriptorpb.FieldDescriptorProto {
	var indexes []int
	for d := field.Parent(); ; d = d.Parent() {
		indexes = append([]int{d.Index()}, indexes...)
		if _, top := d.Parent().(protoreflect.FileDescriptor); top {
			break
		}
	}
	m := file.MessageType[indexes[0]]
	for _, i := range indexes[1:] {
		m = m.NestedType[i]
	}
	return m.Field[field.Index()]
}
