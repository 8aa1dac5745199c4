package source_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/internal/source"
)

const annotated = `syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import "google/type/money.proto";
import "idem/v1/options.proto";
message Paid {
  option (idem.v1.message) = {idempotency_key: "paid:{id}"};
  string id = 1;
  google.type.Money amount = 2;
  google.protobuf.Timestamp at = 3;
}
`

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// messages reads a schema and returns the files that were asked for and the annotated messages.
func messages(t *testing.T, name string) (paths, found []string) {
	t.Helper()
	files, err := source.Read(t.Context(), name)
	require.NoError(t, err)
	set, problems := schema.Build(files.All, files.Paths)
	require.Empty(t, problems)
	for _, f := range set.Files {
		for _, m := range f.Messages {
			found = append(found, string(m.Desc.FullName()))
		}
	}
	return files.Paths, found
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "shop/v1/paid.proto", annotated)
	paths, found := messages(t, dir)
	assert.Equal(t, []string{"shop/v1/paid.proto"}, paths, "what idem brings along was not asked for")
	assert.Equal(t, []string{"shop.v1.Paid"}, found)
}

func TestDirectoryWithModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "buf.yaml", "version: v2\nmodules:\n  - path: api\n  - path: more\n")
	write(t, dir, "api/shop/v1/paid.proto", annotated)
	write(t, dir, "more/other.proto", "syntax = \"proto3\";\nimport \"shop/v1/paid.proto\";\nmessage Other { shop.v1.Paid paid = 1; }\n")
	write(t, dir, "elsewhere/broken.proto", "syntax")
	paths, found := messages(t, dir)
	assert.Equal(t, []string{"other.proto", "shop/v1/paid.proto"}, paths)
	assert.Equal(t, []string{"shop.v1.Paid"}, found)

	write(t, dir, "buf.yaml", "modules: [")
	_, err := source.Read(t.Context(), dir)
	assert.ErrorContains(t, err, "buf.yaml")
}

func TestImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "shop/v1/paid.proto", annotated)
	files, err := source.Read(t.Context(), dir)
	require.NoError(t, err)
	set := &descriptorpb.FileDescriptorSet{}
	for _, f := range files.All {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	plain, marked := filepath.Join(dir, "plain.binpb"), filepath.Join(dir, "marked.binpb")
	data, err := proto.Marshal(set)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(plain, data, 0o600))
	paths, found := messages(t, plain)
	assert.Greater(t, len(paths), 1, "without marks all files are meant")
	assert.Equal(t, []string{"shop.v1.Paid"}, found)

	// As buf marks what is only imported, with another field beside the mark.
	for _, f := range set.File {
		mark := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0)
		if f.GetName() != "shop/v1/paid.proto" {
			mark = protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
		}
		mark = protowire.AppendVarint(protowire.AppendTag(mark, 3, protowire.VarintType), 1)
		f.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 8042, protowire.BytesType), mark))
	}
	data, err = proto.Marshal(set)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(marked, data, 0o600))
	paths, found = messages(t, marked)
	assert.Equal(t, []string{"shop/v1/paid.proto"}, paths)
	assert.Equal(t, []string{"shop.v1.Paid"}, found)
}

func TestWhatIsNoSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := source.Read(t.Context(), filepath.Join(dir, "nothing"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = source.Read(t.Context(), dir)
	assert.ErrorContains(t, err, "no .proto file")

	write(t, dir, "a.proto", "syntax = \"proto3\";\nimport \"from/a/registry.proto\";\n")
	_, err = source.Read(t.Context(), dir)
	assert.ErrorContains(t, err, "a.proto:2")
	assert.ErrorContains(t, err, "buf build")
	for text, want := range map[string]string{
		"edition = \"2024\";\n": "buf build",
		"// New.\nedition = \"2024\";\nimport option \"a/b.proto\";\nexport message M { Foo f = 1; }\n": "a.proto:2:1: the edition is newer than this compiler\nImports",
		"syntax = \"proto3\";\nmessage M {\n  option (idem.v1.message) = {};\n}\n":                      `import "idem/v1/options.proto";`,
	} {
		write(t, dir, "a.proto", text)
		_, err = source.Read(t.Context(), dir)
		assert.ErrorContains(t, err, want)
	}
	write(t, dir, "a.proto", "syntax = \"proto3\";\nmessage {")
	_, err = source.Read(t.Context(), dir)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "buf build")
	_, err = source.Read(t.Context(), filepath.Join(dir, "a.proto"))
	assert.ErrorContains(t, err, "one .proto file")
	write(t, dir, "image.binpb", "no image")
	_, err = source.Read(t.Context(), filepath.Join(dir, "image.binpb"))
	assert.ErrorContains(t, err, "is no image")
}

func TestAllErrorsOfTheCompilerAreShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.proto", "syntax = \"proto3\";\nimport \"x/y.proto\";\nimport \"x/z.proto\";\n")
	write(t, dir, "b.proto", "syntax = \"proto3\";\nmessage {\n")
	write(t, dir, "c.proto", "syntax = \"proto3\";\nmessage C { Foo f = 1; Bar b = 2; }\n")
	_, err := source.Read(t.Context(), dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 7)
	assert.Equal(t, []string{
		"the schema does not compile:",
		dir + `/a.proto:2:8: import "x/y.proto": file does not exist`,
		dir + `/a.proto:3:8: import "x/z.proto": file does not exist`,
		dir + "/b.proto:2:9: syntax error: unexpected '{'",
		dir + "/c.proto:2:13: field C.f: unknown type Foo",
		dir + "/c.proto:2:24: field C.b: unknown type Bar",
	}, lines[:6])
}

const importing = "syntax = \"proto3\";\npackage more;\nimport \"shop/v1/paid.proto\";\nmessage Other { shop.v1.Paid paid = 1; }\n"

func TestDirectoryWithinAWorkspace(t *testing.T) {
	t.Parallel()
	for name, config := range map[string][2]string{
		"v2":      {"buf.yaml", "version: v2\nmodules:\n  - path: api\n  - path: more\n"},
		"v1":      {"buf.work.yaml", "version: v1\ndirectories: [api, more]\n"},
		"v1beta1": {"buf.yaml", "version: v1beta1\nbuild:\n  roots: [api, more]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, config[0], config[1])
			write(t, dir, "api/shop/v1/paid.proto", annotated)
			write(t, dir, "more/other.proto", importing)
			write(t, dir, "more/deep/deep.proto", "syntax = \"proto3\";\nimport \"other.proto\";\n")
			for below, want := range map[string][]string{
				"more":      {"deep/deep.proto", "other.proto"},
				"more/deep": {"deep/deep.proto"},
				".":         {"deep/deep.proto", "other.proto", "shop/v1/paid.proto"},
			} {
				files, err := source.Read(t.Context(), filepath.Join(dir, below))
				require.NoError(t, err, below)
				assert.Equal(t, want, files.Paths)
				path, ok := files.OnDisk("shop/v1/paid.proto")
				assert.True(t, ok)
				assert.Equal(t, filepath.Join(dir, "api/shop/v1/paid.proto"), filepath.Clean(path))
			}
		})
	}
}

func TestFilesThatAModuleLeavesOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "buf.yaml", "version: v2\nmodules:\n  - path: api\n    excludes: [api/old]\n  - path: api\n    includes: [api/old/kept]\n")
	write(t, dir, "api/shop/v1/paid.proto", annotated)
	write(t, dir, "api/old/broken.proto", "syntax")
	write(t, dir, "api/old/kept/kept.proto", "syntax = \"proto3\";\n")
	write(t, dir, "api/.cache/broken.proto", "syntax")
	paths, _ := messages(t, dir)
	assert.Equal(t, []string{"old/kept/kept.proto", "shop/v1/paid.proto"}, paths)
}

// TestImportsFromARegistry has a buf of its own on the PATH, which answers with an image.
func TestImportsFromARegistry(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "api/shop/v1/paid.proto", annotated)
	files, err := source.Read(t.Context(), filepath.Join(dir, "api"))
	require.NoError(t, err)
	set := &descriptorpb.FileDescriptorSet{}
	for _, f := range files.All {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	image, err := proto.Marshal(set)
	require.NoError(t, err)
	write(t, dir, "image", string(image))
	write(t, dir, "bin/buf", "#!/bin/sh\necho \"$@\" >&2\ntest -z \"$FAIL\" || exit 1\ncat "+filepath.Join(dir, "image")+"\n")
	require.NoError(t, os.Chmod(filepath.Join(dir, "bin/buf"), 0o700))
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	write(t, dir, "buf.yaml", "version: v2\nmodules:\n  - path: api\ndeps: [buf.build/a/b]\n")
	write(t, dir, "api/shop/v1/paid.proto", strings.Replace(annotated, "import", "import \"b/b.proto\";\nimport", 1))

	for below, args := range map[string]string{"": "build " + dir + " -o -", "api": "build " + dir + "/api -o -", "api/shop": "build " + dir + " -o - --path " + dir + "/api/shop"} {
		files, err = source.Read(t.Context(), filepath.Join(dir, below))
		require.NoError(t, err)
		assert.Equal(t, "compiled by `buf "+args+"`", files.Note)
		assert.NotNil(t, files.Source("shop/v1/paid.proto"))
	}
	t.Setenv("FAIL", "1")
	_, err = source.Read(t.Context(), dir)
	assert.ErrorContains(t, err, "`buf build "+dir+" -o -` says:\nbuild "+dir)
	assert.NotContains(t, err.Error(), "exit status")
}

func TestPositionsThatAreAddedLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "shop/v1/paid.proto", annotated)
	write(t, dir, "other.proto", importing)
	whole, err := source.Read(t.Context(), dir)
	require.NoError(t, err)
	bare, err := source.ReadBare(t.Context(), dir)
	require.NoError(t, err)
	locations := func(files *source.Files) map[string]int {
		found := make(map[string]int)
		for _, f := range files.Asked() {
			found[f.Path()] = f.SourceLocations().Len()
		}
		return found
	}
	all := locations(whole)
	assert.Equal(t, map[string]int{"other.proto": 0, "shop/v1/paid.proto": 0}, locations(bare))
	require.NoError(t, bare.Locate(t.Context(), "other.proto", "other.proto", "nothing.proto"))
	assert.Equal(t, map[string]int{"other.proto": all["other.proto"], "shop/v1/paid.proto": 0}, locations(bare))
	require.NoError(t, bare.Locate(t.Context(), "shop/v1/paid.proto", "other.proto"))
	assert.Equal(t, all, locations(bare))

	want, _ := schema.Build(whole.All, whole.Paths)
	got, _ := schema.Build(bare.All, bare.Paths)
	place := func(s *schema.Set) schema.Position { return s.Message("shop.v1.Paid").Key.Place.Position() }
	assert.Equal(t, place(want), place(got))
	assert.Equal(t, 7, place(got).Line)
	assert.Equal(t, []string{"shop/v1/paid.proto"}, bare.Mentioning("idem.v1"))
}

func TestErrorsWithoutEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.proto", "syntax = \"proto3\";\nmessage M {\n"+strings.Repeat("  Foo foo = 1;\n", 150)+"}\n")
	_, err := source.Read(t.Context(), dir)
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	assert.Len(t, lines, 101)
	assert.Regexp(t, `^and \d+ more$`, lines[100])
}

func FuzzReadImage(f *testing.F) {
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		{Name: proto.String("a.proto"), Syntax: proto.String("proto3"), MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M")}}},
		{Name: proto.String("b.proto"), Dependency: []string{"a.proto", "b.proto"}},
	}}
	image, err := proto.Marshal(set)
	require.NoError(f, err)
	f.Add(image)
	f.Add([]byte("\x0a\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := source.ReadImage(bytes.NewReader(data), "image")
		if err == nil {
			schema.Build(files.All, files.Paths)
		}
	})
}

func TestLinkToADirectoryIsThatDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "proto/shop/v1/paid.proto", annotated)
	require.NoError(t, os.Symlink("proto", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "proto/shop/loop")))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "proto/shop/loop.proto")))
	paths, _ := messages(t, filepath.Join(dir, "link"))
	assert.Equal(t, []string{"shop/v1/paid.proto"}, paths)
}

func TestDeviceIsNoProtoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Symlink(os.DevNull, filepath.Join(dir, "a.proto")))
	_, err := source.Read(t.Context(), dir)
	assert.ErrorContains(t, err, "a.proto is no file")
}

func TestOneNameInTwoModulesIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "buf.yaml", "version: v2\nmodules:\n  - path: a\n  - path: b\n")
	write(t, dir, "a/shop/paid.proto", annotated)
	write(t, dir, "b/shop/paid.proto", strings.ReplaceAll(annotated, "shop.v1", "other.v1"))
	_, err := source.Read(t.Context(), dir)
	assert.ErrorContains(t, err, "both have shop/paid.proto")

	write(t, dir, "buf.yaml", "version: v2\nmodules:\n  - path: a\n    includes: [a/shop]\n  - path: a\n    includes: [a/shop]\n")
	paths, _ := messages(t, dir)
	assert.Equal(t, []string{"shop/paid.proto"}, paths)
}

func TestWhatBufYAMLGetsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"version: v2\nmodules:\n  - path: ../..\n":                        "../.. is outside of its directory",
		"version: v2\nmodules:\n  - path: a\n    includes: [a/../../b]\n": "a/../../b is outside of its directory",
		"version: v1beta1\nbuild:\n  roots: [/etc]\n":                     "/etc is outside of its directory",
		"version: v2\nmodules: 3\n":                                       "line 2: cannot unmarshal !!int `3`",
	} {
		dir := t.TempDir()
		write(t, dir, "buf.yaml", text)
		write(t, dir, "a.proto", "syntax = \"proto3\";\n")
		_, err := source.Read(t.Context(), dir)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "struct")
	}
}
