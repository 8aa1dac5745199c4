package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	optionsproto "github.com/idem-spec/idem/proto/idem/v1"
	"github.com/idem-spec/idem/third_party/googleapis"
)

// schemasIn is where a workspace has the modules that a test is about, a directory each.
const schemasIn = "schemas"

// writeWorkspace writes a workspace of buf's that has the rules of idem and no others: a module of each of the
// directories below schemasIn, and what idem and google/type declare.
func writeWorkspace(t *testing.T, dir string, options map[string]any, schemas ...string) {
	t.Helper()
	write(t, dir, "idem/"+optionsproto.Path, optionsproto.Options)
	require.NoError(t, os.CopyFS(filepath.Join(dir, "googleapis"), googleapis.Files))
	modules := []map[string]any{{"path": "idem"}, {"path": "googleapis"}}
	for _, name := range schemas {
		modules = append(modules, map[string]any{"path": schemasIn, "includes": []string{schemasIn + "/" + name}})
	}
	use := map[string]any{"use": []string{allRules}}
	config, err := yaml.Marshal(map[string]any{
		"version": "v2", "modules": modules, "lint": use, "breaking": use,
		"plugins": []map[string]any{{"plugin": "buf-plugin-idem", "options": options}},
	})
	require.NoError(t, err)
	write(t, dir, "buf.yaml", config)
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, data, 0o600))
}
