package render_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	vectors "github.com/idem-spec/idem/conformance-vectors"
	"github.com/idem-spec/idem/internal/render"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// conformanceSet is the schema of the vectors' messages.
func conformanceSet(t *testing.T) *schema.Set {
	t.Helper()
	data, err := vectors.Files.ReadFile("descriptors.binpb")
	require.NoError(t, err)
	var set descriptorpb.FileDescriptorSet
	require.NoError(t, proto.Unmarshal(data, &set))
	files, err := schema.Link(set.GetFile())
	require.NoError(t, err)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path())
	}
	built, problems := schema.Build(files, paths)
	require.Empty(t, problems)
	return built
}

// TestMessageVectors renders the templates of every vector of the group message.
func TestMessageVectors(t *testing.T) {
	t.Parallel()
	set := conformanceSet(t)
	data, err := vectors.Files.ReadFile("message.json")
	require.NoError(t, err)
	var all []struct {
		ID    string
		Input struct {
			Type, Payload string
		}
		Output map[string]any
		Error  string
	}
	require.NoError(t, json.Unmarshal(data, &all))
	rendered := 0
	for _, v := range all {
		s := set.Message(protoreflect.FullName(v.Input.Type))
		payload, err := hex.DecodeString(v.Input.Payload)
		if s == nil || err != nil || v.Error == "INPUT_INVALID" {
			continue // an input of no known shape
		}
		m := dynamicpb.NewMessage(s.Desc)
		if proto.Unmarshal(payload, m) != nil {
			continue
		}
		first := error(nil)
		for _, part := range []struct {
			name     string
			template *schema.Template
			render   func(*schema.Template, protoreflect.Message) (string, []render.Step, error)
		}{
			{"idempotency_key", s.Key, render.Key}, {"idempotency_key_previous", s.KeyPrevious, render.Key},
			{"biz_key", s.BizKey, render.BizKey}, {"fingerprint", s.Fingerprint, render.Fingerprint},
		} {
			if part.template == nil {
				assert.NotContains(t, v.Output, part.name, v.ID)
				continue
			}
			got, steps, err := part.render(part.template, m)
			if err != nil {
				first = errors.Join(first, err)
				break
			}
			rendered++
			assert.Len(t, steps, len(part.template.Segments))
			if v.Error == "" {
				assert.Equal(t, v.Output[part.name], got, "%s %s", v.ID, part.name)
			}
		}
		switch {
		case v.Error == "":
			assert.NoError(t, first, v.ID)
		case first != nil:
			assert.Equal(t, v.Error, string(idem.CodeOf(first)), v.ID)
		}
	}
	assert.Greater(t, rendered, 100)
}
