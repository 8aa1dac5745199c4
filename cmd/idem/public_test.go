package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// publicModules are dependencies of this repository that have schemas.
var publicModules = []string{
	"github.com/bufbuild/protocompile", "github.com/prometheus/client_model", "google.golang.org/genproto/googleapis/rpc",
	"google.golang.org/grpc", "google.golang.org/protobuf",
}

// TestPublicSchemasHaveNoFindings lints the schemas of others. They use no option of idem, so whatever compiles has
// no finding, and whatever does not is said to be broken. scripts/lint-public has it lint many more.
func TestPublicSchemasHaveNoFindings(t *testing.T) {
	roots := publicRoots(t)
	t.Setenv("PATH", "") // no buf, which would ask a registry
	compiled, broken := 0, 0
	for _, root := range roots {
		for _, dir := range schemaDirs(t, root) {
			var out, errs bytes.Buffer
			switch code := run(t.Context(), []string{"lint", dir}, streams{out: &out, err: &errs}); code {
			case exitOK:
				compiled++
			case exitUsage:
				broken++
				assert.NotEmpty(t, errs.String(), dir)
			default:
				t.Errorf("idem lint %s: exit code %d\n%s%s", dir, code, &out, &errs)
			}
			assert.Empty(t, out.String(), dir)
		}
	}
	t.Logf("%d directories compile, %d do not by themselves", compiled, broken)
	assert.Greater(t, compiled, len(roots), "what compiles is linted")
}

// publicRoots are the directories to look in: those of IDEM_PUBLIC_SCHEMAS, or what is there without the network.
func publicRoots(t *testing.T) []string {
	t.Helper()
	if roots := os.Getenv("IDEM_PUBLIC_SCHEMAS"); roots != "" {
		return filepath.SplitList(roots)
	}
	out, err := exec.Command("go", append([]string{"list", "-m", "-f", "{{.Dir}}"}, publicModules...)...).Output()
	require.NoError(t, err)
	return append(strings.Fields(string(out)), "../../third_party/googleapis")
}

// schemaDirs are the directories below a root that imports may start from: those with a .proto file or a
// configuration of buf's, and those that are called so.
func schemaDirs(t *testing.T, root string) []string {
	t.Helper()
	var dirs []string
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		name := filepath.Base(file)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (file == root || name == "proto" || name == "src"):
			dirs = append(dirs, file)
		case name == "buf.yaml", name == "buf.work.yaml", strings.HasSuffix(name, ".proto"):
			dirs = append(dirs, filepath.Dir(file))
		}
		return nil
	}))
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
