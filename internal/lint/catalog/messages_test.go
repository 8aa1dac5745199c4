package catalog_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages"
	"github.com/idem-spec/idem/internal/lint/messages/input"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
)

func runMessages(t *testing.T, dir string) []lint.Finding {
	t.Helper()
	files, err := source.Read(t.Context(), dir)
	require.NoError(t, err)
	set, problems := schema.Build(files.All, files.Paths)
	require.Empty(t, problems)
	var findings []lint.Finding
	options := messages.Options{
		Set: set, MaxPayload: messages.DefaultMaxPayload, Memory: messages.DefaultMemory,
		Wanted: func(*lint.Rule) bool { return true },
		Report: func(_ uint64, f lint.Finding) error { findings = append(findings, f); return nil },
	}
	flagsOf(t, dir, &options)
	reader, err := input.Files([]string{filepath.Join(dir, "messages.ndjson")}, nil, input.Options{MaxMessage: input.DefaultMaxMessage})
	require.NoError(t, err)
	_, err = messages.Run(t.Context(), reader, options)
	require.NoError(t, err)
	return lint.Sort(findings)
}

// flagsOf reads the flags of `idem check` that an example needs: flags.json.
func flagsOf(t *testing.T, dir string, o *messages.Options) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "flags.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	require.NoError(t, err)
	flags := struct {
		MaxPayload int    `json:"max-payload"`
		Payload    string `json:"payload"`
	}{o.MaxPayload, "auto"}
	require.NoError(t, json.Unmarshal(text, &flags))
	o.MaxPayload = flags.MaxPayload
	o.Format, err = messages.FormatOf(flags.Payload)
	require.NoError(t, err)
}
