package changes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile/protoutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/lint/changes"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
)

// hostile declares messages under the names of well-known ones, which have none of their fields.
const hostile = `syntax = "proto3";
package google.protobuf;
import "idem/v1/options.proto";
message Paid {
  option (idem.v1.message) = {
    idempotency_key: "paid:v1:{again.s}:{t}:{d}"
    biz_key: "{i}"
    fingerprint: "{t}:{s}:{i}:{d}"
    occurred_at: "{t}"
  };
  Timestamp t = 1;
  StringValue s = 2;
  Int32Value i = 3;
  Duration d = 4;
  Paid again = 5;
}
message Timestamp { repeated string seconds = 1; Paid nanos = 2; }
message Duration { string seconds = 1; }
message StringValue { repeated string value = 1; }
message Int32Value { Paid value = 1; }
`

// hostileAfter changes everything that a rule shows an example of.
var hostileAfter = strings.NewReplacer(
	":v1:", ":v2:", `"{i}"`, `"{i}:{s}"`, `occurred_at: "{t}"`, "", "Timestamp t = 1", "Timestamp t = 9", "Duration d", "Int32Value d",
).Replace(hostile)

func TestMessagesUnderFalseNamesAreNoPanic(t *testing.T) {
	t.Parallel()
	for _, f := range between(t, hostile, hostileAfter) {
		assert.NotEmpty(t, f.What)
	}
	assert.NotEmpty(t, between(t, hostile, hostileAfter))
	assert.NotEmpty(t, between(t, hostileAfter, hostile))
}

// Two descriptor sets, whatever they say, end in findings that say what and how to mend it. What they import
// is added, so that they are small.
func FuzzRun(f *testing.F) {
	before, err := compile(f, shop(f))
	require.NoError(f, err)
	own, imports := split(f, before)
	f.Add(own, own)
	for _, e := range edits {
		edited, _ := e.applied(shop(f))
		after, err := compile(f, edited)
		require.NoError(f, err)
		changed, _ := split(f, after)
		f.Add(own, changed)
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		in := changes.Input{Before: linked(before, imports), After: linked(after, imports)}
		if in.Before.Files == nil || in.After.Files == nil {
			t.Skip("no descriptors that fit together")
		}
		for _, finding := range changes.Run(in, all) {
			if finding.What == "" || finding.Mend == "" {
				t.Errorf("%s: %+v", finding.Rule.ID, finding)
			}
		}
	})
}

// split is the descriptor set of the files that were asked for, and what they import.
func split(t testing.TB, files *source.Files) (own []byte, imports []*descriptorpb.FileDescriptorProto) {
	t.Helper()
	set := new(descriptorpb.FileDescriptorSet)
	for _, file := range files.All {
		f := proto.CloneOf(protoutil.ProtoFromFileDescriptor(file))
		f.SourceCodeInfo = nil
		if slices.Contains(files.Paths, file.Path()) {
			set.File = append(set.File, f)
		} else {
			imports = append(imports, f)
		}
	}
	own, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	require.NoError(t, err)
	return own, imports
}

// linked are the files of a descriptor set, none where they do not fit together.
func linked(data []byte, imports []*descriptorpb.FileDescriptorProto) changes.Side {
	set := new(descriptorpb.FileDescriptorSet)
	if proto.Unmarshal(data, set) != nil {
		return changes.Side{}
	}
	files, err := schema.Link(append(set.GetFile(), imports...))
	if err != nil {
		return changes.Side{}
	}
	var paths []string
	for _, f := range set.GetFile() {
		paths = append(paths, f.GetName())
	}
	return changes.Side{Files: files, Paths: paths}
}
