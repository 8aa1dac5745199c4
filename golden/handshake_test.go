package golden_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// PLUG-006: on a core that is too old, each generated file says so when it is compiled.
func TestOldCoreDoesNotCompile(t *testing.T) {
	t.Parallel()
	core, err := filepath.Abs("../runtime/go/idem/version.go")
	require.NoError(t, err)
	text, err := os.ReadFile(core)
	require.NoError(t, err)
	old := filepath.Join(t.TempDir(), "version.go")
	require.Contains(t, string(text), "IsAtLeastVersion1_0 = true")
	require.NoError(t, os.WriteFile(old, []byte(strings.ReplaceAll(string(text), "IsAtLeastVersion1_0", "IsAtLeastVersion0_9")), 0o644))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {core: old}})
	require.NoError(t, err)
	config := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(config, overlay, 0o644))

	out, err := exec.Command("go", "build", "-overlay", config, "-gcflags=-e", "./go/idem/conformance/v1").CombinedOutput()
	require.Error(t, err)
	files, globErr := filepath.Glob("go/idem/conformance/v1/*_idem.pb.go")
	require.NoError(t, globErr)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.Regexp(t, file+`:[0-9]+:[0-9]+: undefined: idem\.IsAtLeastVersion1_0`, string(out))
	}
}
