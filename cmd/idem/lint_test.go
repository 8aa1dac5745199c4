package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/source"
)

// unversioned is a schema with one finding.
const unversioned = `syntax = "proto3";

package shop.v1;

import "idem/v1/options.proto";

message Paid {
  option (idem.v1.message).idempotency_key = "payments.paid:{payment_id}";

  string payment_id = 1;
}
`

// mended has none.
var mended = strings.Replace(unversioned, "paid:{", "paid:v1:{", 1)

// lintDir is a directory with the files of name and text one after the other.
func lintDir(t *testing.T, namesAndTexts ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(namesAndTexts); i += 2 {
		file := filepath.Join(dir, filepath.FromSlash(namesAndTexts[i]))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(namesAndTexts[i+1]), 0o600))
	}
	return dir
}

// finding is the text of unversioned's finding.
const finding = "error: IDEM_KEY_VERSION_MISSING: the key of shop.v1.Paid has no version segment, so that no later template can be told from this one: write v1 behind the event type, as in payments.paid:v1:…\n"

// TestLintSaysWhatIsWrongAndWhere proves LINT-003.
func TestLintSaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	dir := lintDir(t, "shop/v1/paid.proto", unversioned)
	stdout, stderr, code := invoke(t, "lint", dir)
	assert.Equal(t, exitNo, code)
	assert.Equal(t, dir+"/shop/v1/paid.proto:8:3: "+finding, stdout)
	assert.Contains(t, stderr, "idem: 1 error, 0 warnings in 1 file\n")

	stdout, stderr, code = invoke(t, "lint", lintDir(t, "shop/v1/paid.proto", mended))
	assert.Equal(t, exitOK, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "idem: no findings in 1 file\n")
}

func TestLintWithoutInputReadsTheSchemaOfTheRepository(t *testing.T) {
	dir := lintDir(t, "idem.yaml", "version: v1\nschema: proto\n", "proto/paid.proto", unversioned, "other/broken.proto", "syntax")
	t.Chdir(dir)
	stdout, _, code := invoke(t, "lint")
	assert.Equal(t, exitNo, code)
	assert.Equal(t, "proto/paid.proto:8:3: "+finding, stdout)

	require.NoError(t, os.WriteFile("idem.yaml", []byte("version: v1\nschema: proto\nlint: {ignore: [proto]}\n"), 0o600))
	for _, input := range []string{"proto", filepath.Join(dir, "proto"), "./proto/../proto"} {
		stdout, _, code := invoke(t, "lint", input)
		assert.Equal(t, exitOK, code, "%s is %s", input, stdout)
	}

	t.Chdir(lintDir(t, "paid.proto", mended))
	_, stderr, code := invoke(t, "lint")
	assert.Equal(t, exitOK, code, stderr)
}

func TestLintReadsAnImageOnStandardInput(t *testing.T) {
	t.Parallel()
	files, err := source.Read(t.Context(), lintDir(t, "shop/v1/paid.proto", unversioned))
	require.NoError(t, err)
	set := new(descriptorpb.FileDescriptorSet)
	for _, f := range files.All {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	image, err := proto.Marshal(set)
	require.NoError(t, err)
	for input, want := range map[string]string{string(image): "shop/v1/paid.proto:8:3: " + finding, "no image": ""} {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"lint", "-"}, streams{in: strings.NewReader(input), out: &out, err: &errs})
		assert.Equal(t, want, out.String())
		if want == "" {
			assert.Equal(t, exitUsage, code)
			assert.Contains(t, errs.String(), "standard input is no image")
		} else {
			assert.Equal(t, exitNo, code)
		}
	}
}

func TestLintInOtherFormats(t *testing.T) {
	dir := lintDir(t, "proto/shop/v1/paid.proto", unversioned)
	t.Chdir(dir)
	at := strings.Index(unversioned, ":{payment_id}")
	for format, want := range map[string][]string{
		"json":   {`"file":"proto/shop/v1/paid.proto","line":8,"column":3,`, `"edits":[{"file":"proto/shop/v1/paid.proto","start":` + strconv.Itoa(at+1) + `,"end":` + strconv.Itoa(at+1) + `,"text":"v1:"}]`, `"errors":1`},
		"github": {"::error title=IDEM_KEY_VERSION_MISSING,file=proto/shop/v1/paid.proto,line=8,col=3,"},
		"sarif":  {`"uri":"proto/shop/v1/paid.proto"`, `"byteOffset":` + strconv.Itoa(at+1), "A template that has to change one day"},
	} {
		stdout, stderr, code := invoke(t, "lint", "proto", "--format", format)
		assert.Equal(t, exitNo, code, stderr)
		for _, part := range want {
			assert.Contains(t, stdout, part)
		}
	}
}

// TestWhatCannotBeLintedIsExitCode2 proves LINT-001.
func TestWhatCannotBeLintedIsExitCode2(t *testing.T) {
	t.Parallel()
	good := lintDir(t, "paid.proto", mended)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such input":    {[]string{"lint", filepath.Join(good, "nothing")}, "no such file"},
		"no such format":   {[]string{"lint", good, "--format", "xml"}, "it is text, json, github, sarif"},
		"broken schema":    {[]string{"lint", lintDir(t, "a.proto", "syntax = \"proto3\";\nmessage {")}, "a.proto:2:9"},
		"one is broken":    {[]string{"lint", good, lintDir(t, "a.proto", "syntax")}, "a.proto:1:"},
		"the same twice":   {[]string{"lint", good, lintDir(t, "paid.proto", mended)}, "both have paid.proto: lint them one by one"},
		"no configuration": {[]string{"lint", good, "--config", filepath.Join(good, "idem.yaml")}, "idem.yaml: no such file"},
		"no baseline":      {[]string{"lint", good, "--baseline", filepath.Join(good, "b.json")}, "write it with --write-baseline"},
		"nowhere to write": {[]string{"lint", good, "--write-baseline"}, "say --baseline FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := invoke(t, c.args...)
			assert.Equal(t, exitUsage, code)
			assert.Contains(t, stderr, c.want)
			assert.NotContains(t, stderr, "goroutine")
			assert.Empty(t, stdout)
		})
	}
}

// TestFindingsAreSettled proves LINT-010, LINT-011 and LINT-012.
func TestFindingsAreSettled(t *testing.T) {
	t.Parallel()
	ignored := strings.Replace(unversioned, "message Paid", "// idem:ignore IDEM_KEY_VERSION_MISSING the topic is younger than a day\nmessage Paid", 1)
	for name, c := range map[string]struct {
		config, schema string
		want           []string // findings
	}{
		"rule left out":         {"lint: {except: [IDEM_KEY_VERSION_MISSING]}", unversioned, nil},
		"category left out":     {"lint: {except: [TEMPLATE]}", unversioned, nil},
		"only others":           {"lint: {use: [STATE]}", unversioned, nil},
		"rule off":              {"lint: {severity: {IDEM_KEY_VERSION_MISSING: off}}", unversioned, nil},
		"rule a warning":        {"lint: {severity: {TEMPLATE: off, IDEM_KEY_VERSION_MISSING: warning}}", unversioned, []string{"warning: IDEM_KEY_VERSION_MISSING"}},
		"directory":             {"lint: {ignore: [proto/shop]}", unversioned, nil},
		"import's name":         {"lint: {ignore: [shop/v1/paid.proto]}", unversioned, nil},
		"beginning of a name":   {"lint: {ignore: [proto/sh]}", unversioned, []string{"error: IDEM_KEY_VERSION_MISSING"}},
		"rule in a directory":   {"lint: {ignore_only: {IDEM_KEY_VERSION_MISSING: [proto/shop]}}", unversioned, nil},
		"other rule":            {"lint: {ignore_only: {IDEM_TEMPLATE_SYNTAX: [proto/shop]}}", unversioned, []string{"error: IDEM_KEY_VERSION_MISSING"}},
		"comment":               {"", ignored, nil},
		"comment of nothing":    {"", strings.Replace(ignored, "paid:{", "paid:v1:{", 1), []string{"warning: IDEM_IGNORE_STALE"}},
		"comment of a rule off": {"lint: {except: [TEMPLATE]}", ignored, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := lintDir(t, "idem.yaml", "version: v1\nschema: proto\n"+c.config+"\n", "proto/shop/v1/paid.proto", c.schema)
			stdout, stderr, code := invoke(t, "lint", "--config", filepath.Join(dir, "idem.yaml"), filepath.Join(dir, "proto"))
			lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			if c.want == nil {
				assert.Equal(t, exitOK, code, stderr)
				assert.Empty(t, stdout)
				return
			}
			assert.Equal(t, exitNo, code, stderr)
			require.Len(t, lines, len(c.want))
			for i, want := range c.want {
				assert.Contains(t, lines[i], want)
			}
		})
	}
}

// TestBaselineDropsOldFindings proves LINT-012 and LINT-013.
func TestBaselineDropsOldFindings(t *testing.T) {
	dir := lintDir(t, "idem.yaml", "version: v1\nschema: proto\nlint: {baseline: old.json}\n", "proto/paid.proto", unversioned)
	t.Chdir(dir)
	_, stderr, code := invoke(t, "lint", "--write-baseline")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stderr, "wrote old.json\n")
	_, stderr, code = invoke(t, "lint", "--write-baseline", "--config", filepath.Join(lintDir(t, "idem.yaml", "version: v1\n"), "idem.yaml"), "--baseline", "new.json", "proto")
	require.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stderr, "wrote new.json: name it in idem.yaml, below lint, as baseline:")
	was := read(t, "old.json")
	assert.Contains(t, was, `{"rule":"IDEM_KEY_VERSION_MISSING","file":"paid.proto","declaration":"shop.v1.Paid","message":"`)

	moved := strings.Replace(unversioned, "message Paid", "\n\n// What is above does not matter.\nmessage Paid", 1)
	require.NoError(t, os.WriteFile("proto/paid.proto", []byte(moved), 0o600))
	stdout, _, code := invoke(t, "lint")
	assert.Equal(t, exitOK, code, stdout)

	twice := moved + strings.NewReplacer("Paid", "Refunded", "payments.paid", "payments.refunded").Replace(unversioned[strings.Index(unversioned, "message"):])
	require.NoError(t, os.WriteFile("proto/paid.proto", []byte(twice), 0o600))
	stdout, _, code = invoke(t, "lint")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "the key of shop.v1.Refunded has no version")
	assert.NotContains(t, stdout, "shop.v1.Paid ")

	require.NoError(t, os.WriteFile("proto/paid.proto", []byte(mended), 0o600))
	stdout, _, code = invoke(t, "lint")
	assert.Equal(t, exitNo, code)
	assert.Contains(t, stdout, "old.json:4:1: warning: IDEM_BASELINE_STALE: the baseline has IDEM_KEY_VERSION_MISSING of shop.v1.Paid")

	_, stderr, code = invoke(t, "lint", "--write-baseline")
	assert.Equal(t, exitOK, code, stderr)
	assert.NotContains(t, read(t, "old.json"), "IDEM_KEY")
}

// TestOrderOfInputsDoesNotShow proves LINT-002.
func TestOrderOfInputsDoesNotShow(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer("Paid", "Sent", "payments.paid", "mail.sent").Replace(unversioned)
	one, two := lintDir(t, "b.proto", unversioned), lintDir(t, "a.proto", other, "c.proto", "syntax = \"proto3\";\n")
	forth, _, _ := invoke(t, "lint", one, two)
	back, stderr, _ := invoke(t, "lint", two, one)
	assert.Equal(t, forth, back)
	assert.Regexp(t, `(?s)a\.proto:8:3.*b\.proto:8:3`, forth)
	assert.Contains(t, stderr, "2 errors, 0 warnings in 3 files")
}

// TestRulesWithoutTheirFactAreOff proves LINT-007.
func TestRulesWithoutTheirFactAreOff(t *testing.T) {
	t.Parallel()
	dir := lintDir(t, "paid.proto", mended,
		"none.yaml", "version: v1\n",
		"some.yaml", "version: v1\nfacts:\n  default: {dedup_retention: 14d, topic_retention: 7d, events_per_second_per_biz_key: 10, consumers: 3, key_readers: operators}\n")
	_, stderr, code := invoke(t, "lint", "--config", filepath.Join(dir, "none.yaml"), dir)
	assert.Equal(t, exitOK, code, stderr)
	assert.Equal(t, 1, strings.Count(stderr, "idem: off, since idem.yaml does not declare what they need: IDEM_"))
	assert.Contains(t, stderr, "(dedup_retention)")
	assert.Contains(t, stderr, " (facts: in idem.yaml)\n")
	for _, flag := range []string{"--fix", "--diff"} {
		_, stderr, _ := invoke(t, "lint", flag, "--config", filepath.Join(dir, "none.yaml"), dir)
		assert.NotContains(t, stderr, "idem: off", flag)
	}
	stdout, _, _ := invoke(t, "lint", "--format", "json", "--config", filepath.Join(dir, "none.yaml"), dir)
	assert.Contains(t, stdout, `"off":[{"rule":"IDEM_`)

	_, stderr, code = invoke(t, "lint", "--config", filepath.Join(dir, "some.yaml"), dir)
	assert.Equal(t, exitOK, code, stderr)
	assert.NotContains(t, stderr, "(dedup_retention)")
}

// TestFactsOfAnEventTypeThatNoMessageHas proves LINT-010 of event types.
func TestFactsOfAnEventTypeThatNoMessageHas(t *testing.T) {
	events := func(names ...string) string {
		text := "version: v1\nschema: proto\nfacts:\n  events:\n"
		for _, name := range names {
			text += "    " + name + ": {dedup_retention: 14d}\n"
		}
		return text
	}
	for name, c := range map[string]struct {
		config string
		args   []string
		code   int
		want   string
	}{
		"misspelled":                {events("payments.payd"), nil, exitUsage, `idem.yaml:5:5: no message has the event type "payments.payd"; did you mean payments.paid?`},
		"misspelled, for one input": {events("payments.payd"), []string{"proto"}, exitUsage, "did you mean payments.paid?"},
		"of nobody":                 {events("mail.sent"), nil, exitUsage, `idem.yaml:5:5: no message has the event type "mail.sent": `},
		"of another input perhaps":  {events("mail.sent"), []string{"proto"}, exitOK, "IDEM_RETRY_OUTLIVES_DEDUP (dedup_retention)"},
		"near to one with facts":    {events("payments.paid", "payments.said"), []string{"proto"}, exitOK, "no findings"},
		"of a message":              {events("payments.paid"), nil, exitOK, "no findings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(lintDir(t, "idem.yaml", c.config, "proto/paid.proto", mended))
			_, stderr, code := invoke(t, append([]string{"lint"}, c.args...)...)
			assert.Equal(t, c.code, code, stderr)
			assert.Contains(t, stderr, c.want)
		})
	}
}

func TestIgnoredPathHoldsBehindALink(t *testing.T) {
	t.Parallel()
	dir := lintDir(t, "repo/idem.yaml", "version: v1\nlint:\n  ignore: [proto]\n", "repo/proto/paid.proto", unversioned)
	require.NoError(t, os.Symlink("repo", filepath.Join(dir, "link")))
	stdout, stderr, code := invoke(t, "lint", "--config", filepath.Join(dir, "link/idem.yaml"), filepath.Join(dir, "repo/proto"))
	assert.Equal(t, exitOK, code, stdout+stderr)
}
