package decode

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/render"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// planOf compiles the plan of a message of testdata.
func planOf(t testing.TB, name protoreflect.FullName) *Plan {
	t.Helper()
	files, err := source.Read(t.Context(), "testdata")
	require.NoError(t, err)
	set, problems := schema.Build(files.All, files.Paths)
	require.Empty(t, problems)
	require.NotNil(t, set.Message(name))
	return Compile(set, set.Message(name))
}

// outcome is a rendered text, or the code and the field of the error.
func outcome(text []byte, err error) string {
	if err == nil {
		return string(text)
	}
	field := ""
	if e, ok := err.(*idem.Error); ok {
		field = e.Field
	}
	return "error " + string(idem.CodeOf(err)) + " of " + field
}

// sameTexts asks that all templates have the texts that internal/render has of the message.
func sameTexts(t *testing.T, d *Decoder, p *Plan, m protoreflect.Message) {
	t.Helper()
	for _, c := range []struct {
		name   string
		of     *Template
		walked func([]byte, *Template) ([]byte, error)
		built  func(*schema.Template, protoreflect.Message) (string, []render.Step, error)
	}{
		{"key", p.Key, d.AppendKey, render.Key},
		{"previous key", p.Previous, d.AppendKey, render.Key},
		{"biz key", p.BizKey, d.AppendBizKey, render.BizKey},
		{"fingerprint", p.Fingerprint, d.AppendFingerprint, render.Fingerprint},
	} {
		if c.of == nil {
			continue
		}
		built, _, err := c.built(c.of.Schema, m)
		require.Equal(t, outcome([]byte(built), err), outcome(c.walked(nil, c.of)), c.name)
	}
}
