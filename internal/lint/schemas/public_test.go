package schemas_test

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/schemas"
)

// The schemas of other projects, which know nothing of idem: odd ones on purpose among them.
func TestSchemasWithoutAnOptionHaveNoFinding(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/bufbuild/protocompile",
		"google.golang.org/protobuf", "google.golang.org/grpc", "connectrpc.com/connect", "github.com/prometheus/client_model")
	dirs, err := list.Output()
	require.NoError(t, err)
	read := 0
	for dir := range strings.FieldsSeq(string(dirs)) {
		err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(file, ".proto") {
				if linked := compileAlone(t, dir, file); linked != nil {
					read++
					input := schemas.Input{Files: []protoreflect.FileDescriptor{linked}, Paths: []string{linked.Path()}}
					assert.Empty(t, schemas.Run(input, func(*lint.Rule) bool { return true }), file)
				}
			}
			return err
		})
		require.NoError(t, err)
	}
	require.Greater(t, read, 150)
}

// compileAlone compiles a file, whose imports start from one of the directories above it. Some are broken on
// purpose: nil.
func compileAlone(t *testing.T, dir, file string) protoreflect.FileDescriptor {
	t.Helper()
	for root := filepath.Dir(file); strings.HasPrefix(root, dir); root = filepath.Dir(root) {
		name, err := filepath.Rel(root, file)
		require.NoError(t, err)
		compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}})}
		if linked, err := compiler.Compile(t.Context(), filepath.ToSlash(name)); err == nil {
			return linked[0]
		}
	}
	return nil
}
