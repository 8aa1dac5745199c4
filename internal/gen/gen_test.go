package gen_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/idem-spec/idem/internal/gen"
	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/schema"
)

var update = flag.Bool("update", false, "write the expected outputs of testdata")

// OPT-010 to OPT-050, PLUG-001, PLUG-005: a case is a directory of testdata with .proto files. Its parameters are in the file params, lang=go where
// there is none; what is expected is the error in the file error, or the files beside it.
func TestCases(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("testdata/*/*")
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		t.Run(strings.TrimPrefix(dir, "testdata/"), func(t *testing.T) {
			t.Parallel()
			req := gentest.Request(t, parameters(t, dir), gentest.Dir(t, dir))
			resp := gen.Generate(req)
			if resp.Error == nil {
				compareFiles(t, dir, resp)
				return
			}
			require.Empty(t, resp.GetFile())
			compare(t, filepath.Join(dir, "error"), resp.GetError()+"\n")
			checkRules(t, dir, req)
		})
	}
}

func parameters(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "params"))
	if os.IsNotExist(err) {
		return "lang=go,paths=source_relative"
	}
	require.NoError(t, err)
	return strings.TrimSpace(string(b))
}

// compareFiles compares the output with what is in the directory beside the input.
func compareFiles(t *testing.T, dir string, resp *pluginpb.CodeGeneratorResponse) {
	t.Helper()
	require.NoFileExists(t, filepath.Join(dir, "error"), "no error came")
	var names []string
	for _, f := range resp.GetFile() {
		compare(t, filepath.Join(dir, f.GetName()), f.GetContent())
		names = append(names, f.GetName())
	}
	committed, err := filepath.Glob(filepath.Join(dir, "*_idem.*"))
	require.NoError(t, err)
	for _, path := range committed {
		require.Contains(t, names, filepath.Base(path), "committed and not emitted")
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with: go test ./internal/gen -update")
	require.Equal(t, string(want), got)
}

// ruleOfCase is the requirement that a case is about, the first word of its first file's first line.
var ruleOfCase = regexp.MustCompile(`^// ([A-Z]+-[0-9]{3})\b`)

// checkRules checks that a case of a requirement is refused for it and for nothing else.
func checkRules(t *testing.T, dir string, req *pluginpb.CodeGeneratorRequest) {
	t.Helper()
	rule := caseRule(t, dir)
	if !strings.HasPrefix(rule, "OPT-") {
		return
	}
	descs, err := schema.Link(req.GetProtoFile())
	require.NoError(t, err)
	_, problems := schema.Build(descs, req.GetFileToGenerate())
	require.NotEmpty(t, problems)
	for _, p := range problems {
		require.Equal(t, rule, p.Rule, p.String())
		require.NotEmpty(t, p.Mend, p.String())
	}
}

func caseRule(t *testing.T, dir string) string {
	t.Helper()
	sources := gentest.Dir(t, dir)
	names := make([]string, 0, len(sources))
	for name := range sources {
		names = append(names, name)
	}
	slices.Sort(names)
	m := ruleOfCase.FindStringSubmatch(sources[names[0]])
	if m == nil {
		return ""
	}
	return m[1]
}

// Every requirement of chapter 3 that refuses something has a case here. OPT-001 and OPT-040 refuse nothing, and OPT-050
// is how all of them are printed.
func TestCasesCoverChapter3(t *testing.T) {
	t.Parallel()
	chapter, err := os.ReadFile(filepath.Join(gentest.Root(t), "spec", "03-options.md"))
	require.NoError(t, err)
	dirs, err := filepath.Glob("testdata/refused/*")
	require.NoError(t, err)
	var covered []string
	for _, dir := range dirs {
		covered = append(covered, caseRule(t, dir))
	}
	for _, m := range regexp.MustCompile(`\*\*(OPT-[0-9]{3})\*\*`).FindAllStringSubmatch(string(chapter), -1) {
		switch m[1] {
		case "OPT-001", "OPT-040", "OPT-050":
		default:
			require.Contains(t, covered, m[1])
		}
	}
}
