package suppress_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/suppress"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
)

var (
	key    = &lint.Rule{ID: "IDEM_KEY", Kind: lint.Schema, Category: lint.Template, Severity: lint.Error}
	other  = &lint.Rule{ID: "IDEM_OTHER", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning}
	needy  = &lint.Rule{ID: "IDEM_NEEDY", Kind: lint.Schema, Category: lint.Retry, Severity: lint.Warning, Needs: []string{"consumers"}}
	change = &lint.Rule{ID: "IDEM_CHANGE", Kind: lint.Change, Category: lint.Template, Severity: lint.Error}
	rules  = append([]*lint.Rule{key, other, needy, change}, suppress.Rules()...)
)

// compiled is a file of that text.
func compiled(t *testing.T, text string) protoreflect.FileDescriptor {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.proto"), []byte(text), 0o600))
	files, err := source.Read(t.Context(), dir)
	require.NoError(t, err)
	return files.Asked()[0]
}

// at is a finding at a declaration, or at the file.
func at(t *testing.T, file protoreflect.FileDescriptor, rule *lint.Rule, name protoreflect.FullName) lint.Finding {
	t.Helper()
	if name == "" {
		return lint.At(rule, schema.Decl(file), "what", "mend")
	}
	index := new(protoregistry.Files)
	require.NoError(t, index.RegisterFile(file))
	d, err := index.FindDescriptorByName(name)
	require.NoError(t, err)
	return lint.At(rule, schema.Decl(d), "what of "+string(name), "mend")
}

func ids(findings []lint.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Rule.ID)
	}
	return all
}

func TestCommentIgnoresItsDeclarationAndWhatIsInIt(t *testing.T) {
	t.Parallel()
	const ignore = "idem:ignore IDEM_KEY the reason"
	for name, c := range map[string]struct {
		text    string
		ignored []protoreflect.FullName
	}{
		"above a message":         {"// " + ignore + "\nmessage M { string a = 1; enum E { E_A = 0; } }\nmessage N {}\n", []protoreflect.FullName{"p.M", "p.M.a", "p.M.E", "p.M.E_A"}},
		"within a longer comment": {"// M is a message.\n// " + ignore + "\n// It has a field.\nmessage M { string a = 1; enum E { E_A = 0; } }\nmessage N {}\n", []protoreflect.FullName{"p.M", "p.M.a", "p.M.E", "p.M.E_A"}},
		"in a block":              {"/* M.\n * " + ignore + "\n */\nmessage M { string a = 1; enum E { E_A = 0; } }\nmessage N {}\n", []protoreflect.FullName{"p.M", "p.M.a", "p.M.E", "p.M.E_A"}},
		"above a field":           {"message M {\n// " + ignore + "\nstring a = 1; enum E { E_A = 0; } }\nmessage N {}\n", []protoreflect.FullName{"p.M.a"}},
		"behind a field":          {"message M {\nstring a = 1; // " + ignore + "\n\nenum E { E_A = 0; } }\nmessage N {}\n", []protoreflect.FullName{"p.M.a"}},
		"behind a brace":          {"message M { // " + ignore + "\n\nstring a = 1; enum E { E_A = 0; } }\nmessage N {}\n", []protoreflect.FullName{"p.M", "p.M.a", "p.M.E", "p.M.E_A"}},
		"above a value":           {"message M { string a = 1; enum E {\n// " + ignore + "\nE_A = 0; } }\nmessage N {}\n", []protoreflect.FullName{"p.M.E_A"}},
		"apart from all":          {"// " + ignore + "\n\n// M.\nmessage M { string a = 1; enum E { E_A = 0; } }\nmessage N {}\n", nil},
		"another word":            {"// idem:ignored IDEM_KEY x\nmessage M { string a = 1; enum E { E_A = 0; } }\nmessage N {}\n", nil},
		"in the middle of a line": {"// See " + ignore + "\nmessage M { string a = 1; enum E { E_A = 0; } }\nmessage N {}\n", nil},
		"another rule":            {"// idem:ignore IDEM_OTHER x\nmessage M { string a = 1; enum E { E_A = 0; } }\nmessage N {}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := compiled(t, "syntax = \"proto3\";\npackage p;\n\n"+c.text)
			filter := suppress.NewFilter(suppress.Select(lint.Schema, new(config.Config), rules), []protoreflect.FileDescriptor{file})
			var ignored []protoreflect.FullName
			for _, name := range []protoreflect.FullName{"p.M", "p.M.a", "p.M.E", "p.M.E_A", "p.N"} {
				if f := at(t, file, key, name); !filter.Keep(&f) {
					ignored = append(ignored, name)
				}
			}
			assert.Equal(t, c.ignored, ignored)
		})
	}
}

func TestCommentAboveTheFilesOwnStatements(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"syntax":  "// idem:ignore IDEM_KEY generated\nsyntax = \"proto3\";\npackage p;\nmessage M {}\n",
		"package": "syntax = \"proto3\";\n// idem:ignore IDEM_KEY generated\npackage p;\nmessage M {}\n",
		"edition": "// idem:ignore IDEM_KEY generated\nedition = \"2023\";\npackage p;\nmessage M {}\n",
	} {
		file := compiled(t, text)
		filter := suppress.NewFilter(suppress.Select(lint.Schema, new(config.Config), rules), []protoreflect.FileDescriptor{file})
		for _, declaration := range []protoreflect.FullName{"", "p.M"} {
			f := at(t, file, key, declaration)
			assert.False(t, filter.Keep(&f), name)
		}
		f := at(t, file, other, "p.M")
		assert.True(t, filter.Keep(&f), name)
		assert.Empty(t, filter.Rest(), name)
	}
	file := compiled(t, "syntax = \"proto3\";\npackage p;\n// idem:ignore IDEM_KEY of what?\n\nmessage M {}\n")
	filter := suppress.NewFilter(suppress.Select(lint.Schema, new(config.Config), rules), []protoreflect.FileDescriptor{file})
	f := at(t, file, key, "p.M")
	assert.True(t, filter.Keep(&f), "behind the package, as compilers see it")
}

func TestCommentsThatAreFindings(t *testing.T) {
	t.Parallel()
	off := config.Section{Except: []string{"IDEM_KEY"}}
	for name, c := range map[string]struct {
		comment       string
		section       config.Section
		lint, changes []string // findings of idem lint, and of idem breaking
	}{
		"used":                      {"IDEM_OTHER the reason", config.Section{}, nil, nil},
		"used without a reason":     {"IDEM_OTHER", config.Section{}, []string{"IDEM_IGNORE_REASON_MISSING"}, nil},
		"of nothing":                {"IDEM_KEY the reason", config.Section{}, []string{"IDEM_IGNORE_STALE"}, nil},
		"of nothing, no reason":     {"IDEM_KEY", config.Section{}, []string{"IDEM_IGNORE_REASON_MISSING", "IDEM_IGNORE_STALE"}, nil},
		"of a rule that is off":     {"IDEM_KEY the reason", off, nil, nil},
		"of a rule without a fact":  {"IDEM_NEEDY the reason", config.Section{}, nil, nil},
		"of a change":               {"IDEM_CHANGE the reason", config.Section{}, nil, []string{"IDEM_IGNORE_STALE"}},
		"of a change, no reason":    {"IDEM_CHANGE", config.Section{}, []string{"IDEM_IGNORE_REASON_MISSING"}, []string{"IDEM_IGNORE_REASON_MISSING", "IDEM_IGNORE_STALE"}},
		"of no rule":                {"IDEM_KEYS the reason", config.Section{}, []string{"IDEM_IGNORE_STALE"}, nil},
		"a tab before the reason":   {"IDEM_OTHER\tthe reason", config.Section{}, nil, nil},
		"apart from what is below":  {"IDEM_OTHER the reason\n", config.Section{}, []string{"IDEM_IGNORE_STALE"}, nil},
		"of nothing at all":         {"", config.Section{}, []string{"IDEM_IGNORE_STALE"}, nil},
		"where stale ones may stay": {"IDEM_KEY the reason", config.Section{Severity: map[string]lint.Severity{"IDEM_IGNORE_STALE": 0}}, nil, nil},
		"in a file that is ignored": {"IDEM_KEY", config.Section{Ignore: []string{"a.proto"}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := compiled(t, "syntax = \"proto3\";\npackage p;\n// idem:ignore "+c.comment+"\nmessage M {}\n")
			for kind, want := range map[lint.Kind][]string{lint.Schema: c.lint, lint.Change: c.changes} {
				filter := suppress.NewFilter(suppress.Select(kind, &config.Config{Lint: c.section, Breaking: c.section}, rules), []protoreflect.FileDescriptor{file})
				if f := at(t, file, other, "p.M"); kind == lint.Schema {
					filter.Keep(&f)
				}
				assert.Equal(t, want, ids(filter.Rest()), kind)
			}
		})
	}
}

func TestSeverityOfTheNearestNameHolds(t *testing.T) {
	t.Parallel()
	c := &config.Config{Lint: config.Section{Severity: map[string]lint.Severity{"ALL": lint.Warning, "RETRY": lint.Error, "IDEM_IGNORE_STALE": lint.Error}}}
	file := compiled(t, "syntax = \"proto3\";\npackage p;\n// idem:ignore IDEM_NOTHING x\nmessage M {}\n")
	filter := suppress.NewFilter(suppress.Select(lint.Schema, c, rules), []protoreflect.FileDescriptor{file})
	for rule, want := range map[*lint.Rule]lint.Severity{key: lint.Warning, other: lint.Error} {
		f := at(t, file, rule, "p.M")
		require.True(t, filter.Keep(&f))
		assert.Equal(t, want, f.Severity)
	}
	rest := filter.Rest()
	require.Len(t, rest, 1)
	assert.Equal(t, lint.Error, rest[0].Severity)
	assert.Equal(t, []*lint.Rule{needy}, filter.Off())
	assert.False(t, filter.Wanted(change), "a rule of another command")
}

const two = "syntax = \"proto3\";\npackage p;\nmessage M { message In { string a = 1; } enum E { E_A = 0; } oneof o { string b = 2; } }\n"

func TestBaselineCounts(t *testing.T) {
	t.Parallel()
	file := compiled(t, two)
	run := func(b *suppress.Baseline, names ...protoreflect.FullName) (*suppress.Filter, int) {
		filter := suppress.NewFilter(suppress.Select(lint.Schema, new(config.Config), rules), []protoreflect.FileDescriptor{file})
		filter.Record, filter.Baseline = true, b
		kept := 0
		for _, name := range names {
			if f := at(t, file, key, name); filter.Keep(&f) {
				kept++
			}
		}
		return filter, kept
	}
	old := []protoreflect.FullName{"p.M.In.a", "p.M", "p.M", "p.M.E_A", "p.M.o", "p.M.b", ""}
	filter, kept := run(nil, old...)
	assert.Equal(t, 7, kept)
	var first, second bytes.Buffer
	require.NoError(t, filter.WriteBaseline(&first))
	filter, _ = run(nil, "p.M.b", "p.M", "", "p.M.o", "p.M.E_A", "p.M", "p.M.In.a")
	require.NoError(t, filter.WriteBaseline(&second))
	assert.Equal(t, first.String(), second.String(), "the order of findings does not show")
	for _, declaration := range []string{`"file":"a.proto","message"`, `"p.M"`, `"p.M.In.a"`, `"p.M.E_A"`, `"p.M.o"`, `"p.M.b"`} {
		assert.Contains(t, first.String(), declaration)
	}
	assert.Contains(t, first.String(), `"count":2`)

	for name, c := range map[string]struct {
		now         []protoreflect.FullName
		kept, stale int
	}{
		"the same":       {old, 0, 0},
		"one mended":     {old[1:], 0, 1},
		"one of two":     {append(old[:1:1], old[2:]...), 0, 1},
		"one more":       {append(old[:7:7], "p.M"), 1, 0},
		"one of another": {append(old[:7:7], "p.M.In"), 1, 0},
	} {
		b, err := suppress.ReadBaseline("old.json", first.Bytes())
		require.NoError(t, err)
		filter, kept := run(b, c.now...)
		assert.Equal(t, c.kept, kept, name)
		rest := filter.Rest()
		require.Len(t, rest, c.stale, name)
		if c.stale > 0 {
			assert.Equal(t, "old.json", rest[0].Position.File)
			line := strings.Split(first.String(), "\n")[rest[0].Position.Line-1]
			assert.Contains(t, line, `"rule":"IDEM_KEY"`, "the line is that of the entry")
		}
	}
}

func TestEntriesThatTheRunDoesNotJudge(t *testing.T) {
	t.Parallel()
	file := compiled(t, two)
	text := `{"version":1,"findings":[
{"rule":"IDEM_KEY","file":"b.proto","message":"0","count":1},
{"rule":"IDEM_CHANGE","file":"a.proto","message":"0","count":1},
{"rule":"IDEM_NEEDY","file":"a.proto","message":"0","count":1},
{"rule":"IDEM_GONE","file":"a.proto","message":"0","count":1}]}`
	for whole, want := range map[bool]int{false: 1, true: 2} {
		b, err := suppress.ReadBaseline("old.json", []byte(text))
		require.NoError(t, err)
		filter := suppress.NewFilter(suppress.Select(lint.Schema, new(config.Config), rules), []protoreflect.FileDescriptor{file})
		filter.Baseline, filter.Whole = b, whole
		rest := filter.Rest()
		assert.Len(t, rest, want)
		assert.Contains(t, rest[len(rest)-1].What, "IDEM_GONE", "a rule that is no more has no findings")
	}
}

func TestWhatIsNoBaseline(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "old.json is no baseline: ",
		"[]":                          "old.json is no baseline: ",
		`{"version":2,"findings":[]}`: "of version 2, and this program knows 1",
		`{"version":1,"findings":[{"rule":"IDEM_KEY","file":"a","message":"0","count":1},{"rule":"IDEM_KEY","line":3}]}`: "entry 2 is no finding",
		`{"version":1,"findings":[{"rule":"IDEM_KEY","file":"a","message":"0","count":0}]}`:                              "entry 1 is no finding",
		`{"version":1,"findings":[null]}`: "entry 1 is no finding",
	} {
		_, err := suppress.ReadBaseline("old.json", []byte(text))
		require.ErrorContains(t, err, want, text)
		assert.ErrorContains(t, err, "--write-baseline")
	}
}

func TestIgnoreWithAColonIsNotOverlooked(t *testing.T) {
	t.Parallel()
	file := compiled(t, "syntax = \"proto3\";\npackage p;\n// idem:ignore: IDEM_KEY x\nmessage M {}\n")
	filter := suppress.NewFilter(suppress.Select(lint.Schema, new(config.Config), rules), []protoreflect.FileDescriptor{file})
	assert.Equal(t, []string{"IDEM_IGNORE_STALE"}, ids(filter.Rest()))
}
