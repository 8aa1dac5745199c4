package changes_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen"
	"github.com/idem-spec/idem/internal/gen/gentest"
)

// Of edits of which the linter says nothing, the code that is generated for Go, Java and Python is the
// same, but for comments, unless the edit says why it is not.
func TestGeneratedCodeStaysTheSameWhereNothingIsFound(t *testing.T) {
	t.Parallel()
	files := shop(t)
	before := emitted(t, files)
	for _, e := range edits {
		if len(e.rules) > 0 {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			edited, ok := e.applied(files)
			require.True(t, ok)
			after := emitted(t, edited)
			assert.Equal(t, e.emits == "", maps.Equal(before, after), "generated code is the same, or the edit says why not: %q", e.emits)
		})
	}
}

// comment is a comment of Go, Java or Python, or what is left of it on a line.
var comment = regexp.MustCompile(`(?m)^\s*(//|/?\*|#|""").*$|\s*//.*$|  # .*$`)

// emitted is the generated code by file name.
func emitted(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	response := gen.Generate(gentest.Request(t, "lang=go+java+python", files))
	require.Empty(t, response.GetError())
	all := make(map[string]string)
	for _, f := range response.GetFile() {
		all[f.GetName()] = strings.Join(strings.Fields(comment.ReplaceAllString(f.GetContent(), "")), " ")
	}
	require.GreaterOrEqual(t, len(all), 3+6+3, "a file for each .proto in Go and Python, and in Java for each message and enum")
	return all
}
