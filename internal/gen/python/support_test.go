package python

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/emit"
	pythoncore "github.com/idem-spec/idem/runtime/python"
)

// TestSupportSources compares the embedded sources with those in the repository, of which go:embed leaves
// some out where a pattern is careless. (PLUG-003)
func TestSupportSources(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(root, "runtime", "python")
	out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "ls-files", "--cached", "--others", "--exclude-standard", pythoncore.Dir).Output()
	if err != nil {
		t.Skip("this is no git work tree")
	}
	var embedded []string
	for _, f := range supportFiles(pythoncore.Package) {
		embedded = append(embedded, "src/"+f.Name)
	}
	slices.Sort(embedded)
	assert.Equal(t, strings.Fields(string(out)), embedded)
	assert.Contains(t, embedded, "src/idemspec/__init__.py")
	assert.Contains(t, embedded, "src/idemspec/py.typed")
}

// TestSupport shows who gets the support sources, and where. (PLUG-003)
func TestSupport(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "shop")
	count := func(files []emit.File, prefix string) int {
		n := 0
		for _, f := range files {
			if strings.HasPrefix(f.Name, prefix) {
				n++
			}
		}
		return n
	}
	all := len(supportFiles(pythoncore.Package))
	assert.Equal(t, all, count(withSupport(t, dir, emit.Options{Support: true}), "idemspec/"))
	assert.Equal(t, 0, count(withSupport(t, dir, emit.Options{}), "idemspec/"))
	relocated := withSupport(t, dir, emit.Options{Support: true, SupportPackage: "com.acme.idem"})
	assert.Equal(t, all, count(relocated, "com/acme/idem/"))
	assert.Len(t, relocated, all+1)
	alone, problems := emitted(t, directory(t, dir), filesIn(t, dir, ".proto"), emit.Options{Support: true})
	require.Empty(t, problems)
	assert.Len(t, alone, 1)
	for _, c := range []struct{ pkg, want string }{
		{"idemspec", "import idemspec"},
		{"acme_idem", "import acme_idem as idemspec"},
		{"com.acme.idem", "from com.acme import idem as idemspec"},
		{"com.acme.idemspec", "from com.acme import idemspec"},
	} {
		assert.Equal(t, c.want, importAs(c.pkg, "idemspec"))
	}
}
