package source_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/source"
)

// git runs git in a repository, as nobody in particular and on a day that does not change.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2025-01-01T04:00:00Z", "GIT_COMMITTER_DATE=2025-01-01T04:00:00Z", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "git %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// repository is one with the message Paid at v1 in the directory proto, and another one in the work tree.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	write(t, dir, "proto/shop/v1/paid.proto", annotated)
	write(t, dir, ".gitattributes", "*.proto export-ignore text eol=crlf\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "--message=first")
	git(t, dir, "tag", "v1")
	write(t, dir, "proto/shop/v1/paid.proto", strings.ReplaceAll(annotated, "Paid", "Settled"))
	return dir
}

// named are the messages of a schema.
func named(files *source.Files) []string {
	var names []string
	for _, f := range files.Asked() {
		for i := range f.Messages().Len() {
			names = append(names, string(f.Messages().Get(i).Name()))
		}
	}
	return names
}

func TestAgainstReadsASchemaAsItWas(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	proto := filepath.Join(dir, "proto")
	for name, c := range map[string]struct{ ref, input string }{
		"a tag":                   {"v1", proto},
		"a branch":                {"main", proto},
		"a commit":                {strings.TrimSpace(git(t, dir, "rev-parse", "v1")), proto},
		"an expression":           {"HEAD~0", proto},
		"a directory of buf's":    {filepath.Join(dir, ".git") + "#ref=v1,subdir=proto", "elsewhere"},
		"a work tree, and a tag":  {dir + "#tag=v1,subdir=proto", "elsewhere"},
		"from within the schema":  {"v1", filepath.Join(proto, "shop")},
		"a subdir with a slash":   {dir + "#branch=main,subdir=/proto/", "elsewhere"},
		"a subdir outside, as in": {dir + "#ref=v1,subdir=../../proto", "elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := git(t, dir, "status", "--porcelain")
			files, committed, err := source.Against(t.Context(), c.ref, c.input)
			require.NoError(t, err)
			assert.Equal(t, []string{"Paid"}, named(files))
			assert.Equal(t, "2025-01-01T04:00:00Z", committed.UTC().Format(time.RFC3339))
			assert.Equal(t, before, git(t, dir, "status", "--porcelain"), "the work tree is not touched")
			_, there := files.OnDisk("shop/v1/paid.proto")
			assert.False(t, there, "what was is not what is on disk")
		})
	}
}

func TestAgainstReadsAWorkspaceAsItWas(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, dir, "buf.yaml", "version: v2\nmodules:\n  - path: proto\n  - path: common\n")
	write(t, dir, "common/common/v1/note.proto", "syntax = \"proto3\";\npackage common.v1;\nmessage Note {}\n")
	write(t, dir, "proto/shop/v1/paid.proto", strings.Replace(annotated, `import "idem`, "import \"common/v1/note.proto\";\nimport \"idem", 1)+"message Sent { common.v1.Note note = 1; }\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "--quiet", "--message=second")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "common")))

	files, _, err := source.Against(t.Context(), "main", filepath.Join(dir, "proto"))
	require.NoError(t, err)
	assert.Equal(t, []string{"Paid", "Sent"}, named(files))
}

func TestAgainstReadsADirectoryAndAnImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "before/shop/v1/paid.proto", annotated)
	files, committed, err := source.Against(t.Context(), filepath.Join(dir, "before"), "elsewhere")
	require.NoError(t, err)
	assert.Equal(t, []string{"Paid"}, named(files))
	assert.Zero(t, committed)
}

func TestAgainstSaysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	proto := filepath.Join(dir, "proto")
	outside := t.TempDir()
	write(t, outside, "paid.proto", annotated)
	write(t, dir, "proto/shop/v1/paid.proto", "message {")
	git(t, dir, "commit", "--quiet", "--all", "--message=broken")

	for name, c := range map[string]struct{ ref, input, want string }{
		"no such ref":              {"v7", proto, "v7 is no file or directory, and no commit of the git repository of " + proto + ": fetch it first"},
		"a ref like a flag":        {"--upload-pack=x", proto, `"--upload-pack=x" is no ref`},
		"no repository":            {"main", outside, "main is no file or directory, and " + outside + " is in no git repository: name a directory or an image"},
		"an input of no directory": {"main", "-", "write .git#ref=main,subdir=DIRECTORY"},
		"an image that is not":     {"../v1/image.binpb", proto, "../v1/image.binpb is not there"},
		"no ref":                   {dir + "#subdir=proto", proto, "names no ref"},
		"another option":           {dir + "#ref=v1,depth=1", proto, `not "depth=1"`},
		"no such directory then":   {dir + "#ref=v1,subdir=api", proto, "at v1: there is no .proto file in api"},
		"a broken schema then":     {"main", proto, "\nproto/shop/v1/paid.proto:1:9: syntax error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := source.Against(t.Context(), c.ref, c.input)
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "idem-against-")
		})
	}
}

func TestAgainstAModuleNeedsBuf(t *testing.T) {
	dir := repository(t)
	t.Setenv("PATH", onlyGit(t))
	_, _, err := source.Against(t.Context(), "buf.build/acme/shop:v1", filepath.Join(dir, "proto"))
	require.ErrorContains(t, err, "`buf build buf.build/acme/shop:v1 -o image.binpb`")
}

func TestAgainstHasBufReadAModule(t *testing.T) {
	dir := repository(t)
	git(t, dir, "checkout", "--quiet", ".")
	bin := t.TempDir()
	write(t, bin, "image.binpb", string(image(t, filepath.Join(dir, "proto"))))
	write(t, bin, "buf", "#!/bin/sh\ntest \"$*\" = 'build buf.build/acme/shop:v1 -o -' || { echo no \"$*\" >&2; exit 1; }\ncat "+filepath.Join(bin, "image.binpb")+"\n")
	require.NoError(t, os.Chmod(filepath.Join(bin, "buf"), 0o700))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))

	files, committed, err := source.Against(t.Context(), "buf.build/acme/shop:v1", filepath.Join(dir, "proto"))
	require.NoError(t, err)
	assert.Contains(t, named(files), "Paid")
	assert.Zero(t, committed)

	_, _, err = source.Against(t.Context(), "buf.build/acme/shop:v2", filepath.Join(dir, "proto"))
	require.ErrorContains(t, err, "`buf build buf.build/acme/shop:v2` says:\nno build buf.build/acme/shop:v2 -o -")
}

// image is a schema as buf writes it.
func image(t *testing.T, dir string) []byte {
	t.Helper()
	files, err := source.Read(t.Context(), dir)
	require.NoError(t, err)
	set := &descriptorpb.FileDescriptorSet{}
	for _, f := range files.All {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	data, err := proto.Marshal(set)
	require.NoError(t, err)
	return data
}

// onlyGit is a PATH with git alone.
func onlyGit(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("git")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(program, filepath.Join(dir, "git")))
	return dir
}

func TestAgainstReadsAWorktreesAndABareRepository(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	others := t.TempDir()
	git(t, dir, "worktree", "add", "--quiet", filepath.Join(others, "tree"), "HEAD")
	git(t, dir, "clone", "--quiet", "--bare", dir, filepath.Join(others, "bare.git"))
	for _, ref := range []string{"tree/.git#ref=v1,subdir=proto", "tree#ref=v1,subdir=proto", "bare.git#ref=v1,subdir=proto"} {
		files, _, err := source.Against(t.Context(), filepath.Join(others, ref), "elsewhere")
		require.NoError(t, err, ref)
		assert.Equal(t, []string{"Paid"}, named(files), ref)
	}
}

// A hook's environment names the repository that it runs in.
func TestAgainstIsOfTheInputsRepository(t *testing.T) {
	dir := repository(t)
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "other.git"))
	files, _, err := source.Against(t.Context(), filepath.Join(dir)+"#ref=v1,subdir=proto", "elsewhere")
	require.NoError(t, err)
	assert.Equal(t, []string{"Paid"}, named(files))
}

func TestAgainstDoesNotDependOnHowGitLogIsConfigured(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	write(t, dir, "gpg", "#!/bin/sh\ncat >/dev/null\necho >&2 '[GNUPG:] SIG_CREATED '\necho '-----BEGIN PGP SIGNATURE-----'\n")
	require.NoError(t, os.Chmod(filepath.Join(dir, "gpg"), 0o700))
	git(t, dir, "config", "gpg.program", filepath.Join(dir, "gpg"))
	git(t, dir, "config", "log.showSignature", "true")
	git(t, dir, "commit", "--quiet", "--allow-empty", "--gpg-sign", "--message=signed")
	_, committed, err := source.Against(t.Context(), "main", filepath.Join(dir, "proto"))
	require.NoError(t, err)
	assert.Equal(t, "2025-01-01T04:00:00Z", committed.UTC().Format(time.RFC3339))
}

func TestAgainstGivesNoOptionToBuf(t *testing.T) {
	t.Parallel()
	_, _, err := source.Against(t.Context(), "-o.x/a/b", filepath.Join(repository(t), "proto"))
	assert.ErrorContains(t, err, `"-o.x/a/b" is no ref`)
}

func TestAgainstACommitWithoutASchemaNamesNoTemporaryDirectory(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	git(t, dir, "rm", "--quiet", "--force", "-r", "proto")
	git(t, dir, "commit", "--quiet", "--message=none")
	_, _, err := source.Against(t.Context(), "main", dir)
	assert.EqualError(t, err, "at main: there is no .proto file in the repository")
}
