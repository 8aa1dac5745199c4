// Package source reads schemas from where users have them: a directory of .proto files, or an image
// that a compiler wrote. It compiles in this process, needs no network, and adds what idem itself is
// the home of: its options, and google/type.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/schema"
	optionsproto "github.com/idem-spec/idem/proto/idem/v1"
	"github.com/idem-spec/idem/third_party/googleapis"
)

// Files are compiled files, with source positions where there were sources.
type Files struct {
	// All are the files and what they import.
	All []protoreflect.FileDescriptor
	// Paths are the files that were asked for, in their order.
	Paths []string

	// roots are the directories that imports start from, none of an image.
	roots []string
}

// Asked are the files of Paths.
func (f *Files) Asked() []protoreflect.FileDescriptor {
	asked := make(map[string]bool, len(f.Paths))
	for _, path := range f.Paths {
		asked[path] = true
	}
	return slices.DeleteFunc(slices.Clone(f.All), func(file protoreflect.FileDescriptor) bool { return !asked[file.Path()] })
}

// OnDisk is where a file is, and false where it was not read from a directory.
func (f *Files) OnDisk(path string) (string, bool) {
	for _, root := range f.roots {
		file := filepath.Join(root, filepath.FromSlash(path))
		if _, err := os.Stat(file); err == nil {
			return file, true
		}
	}
	return "", false
}

// Source is the text of a file, or nil where it is not on disk.
func (f *Files) Source(path string) []byte {
	if file, ok := f.OnDisk(path); ok {
		text, _ := os.ReadFile(file)
		return text
	}
	return nil
}

// Read reads a directory of .proto files or an image: a FileDescriptorSet, as `buf build -o` and
// `protoc --include_imports --descriptor_set_out` write it. In a directory with a buf.yaml the files are
// those of its modules.
func Read(ctx context.Context, name string) (*Files, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	if info.IsDir() {
		return readDir(ctx, name)
	}
	if strings.HasSuffix(name, ".proto") {
		return nil, fmt.Errorf("%s is one .proto file: name the directory that its imports start from", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	defer file.Close()
	return ReadImage(file, name)
}

// ReadImage reads an image from a stream, whose name its errors give.
func ReadImage(r io.Reader, name string) (*Files, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil || len(set.GetFile()) == 0 {
		return nil, fmt.Errorf("%s is no image: write one with `buf build -o image.binpb`", name)
	}
	return link(set.GetFile(), imports(set.GetFile()))
}

// imports returns the paths of the files that an image is about. buf marks the others; without the
// mark all files are.
func imports(files []*descriptorpb.FileDescriptorProto) []string {
	var paths []string
	for _, f := range files {
		if !isImport(f.ProtoReflect().GetUnknown()) {
			paths = append(paths, f.GetName())
		}
	}
	return paths
}

// isImport looks for buf's mark in a file's unknown fields: is_import, field 1 of the message in field
// 8042 (buf.alpha.image.v1).
func isImport(unknown []byte) bool {
	mark := false
	for len(unknown) > 0 {
		number, kind, n := protowire.ConsumeTag(unknown)
		if n < 0 {
			return false
		}
		m := protowire.ConsumeFieldValue(number, kind, unknown[n:])
		if m < 0 {
			return false
		}
		value := unknown[n : n+m]
		switch {
		case number == 8042 && kind == protowire.BytesType:
			inner, _ := protowire.ConsumeBytes(value)
			mark = mark || isImport(inner)
		case number == 1 && kind == protowire.VarintType:
			is, _ := protowire.ConsumeVarint(value)
			mark = is != 0
		}
		unknown = unknown[n+m:]
	}
	return mark
}

func readDir(ctx context.Context, dir string) (*Files, error) {
	roots, err := modules(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".proto") {
				return err
			}
			relative, err := filepath.Rel(root, file)
			if name := filepath.ToSlash(relative); err == nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no .proto file in %s", dir)
	}
	slices.Sort(names)
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: roots},
			&protocompile.SourceResolver{Accessor: vendored},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	linked, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("compile the schema: %w%s", err, mend(err))
	}
	var protos []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	for _, f := range linked {
		protos = behindImports(protos, f, seen)
	}
	files, err := link(protos, names)
	if err != nil {
		return nil, err
	}
	files.roots = roots
	return files, nil
}

// mend says what to do about an error of the compiler, where that is known.
func mend(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "unknown extension idem.v1."):
		return "\nThe file has to say: import \"" + optionsproto.Path + "\";"
	case errors.Is(err, fs.ErrNotExist), strings.Contains(text, "edition value"):
		return "\nImports from a registry, and edition 2024, are in an image alone: `buf build -o image.binpb`, and name that"
	default:
		return ""
	}
}

// modules returns the directories that imports start from.
func modules(dir string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "buf.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return []string{dir}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var config struct {
		Modules []struct {
			Path string `yaml:"path"`
		} `yaml:"modules"`
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, "buf.yaml"), err)
	}
	if len(config.Modules) == 0 {
		return []string{dir}, nil
	}
	var roots []string
	for _, m := range config.Modules {
		if root := filepath.Join(dir, filepath.FromSlash(m.Path)); !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots, nil
}

// vendored opens what idem brings along.
func vendored(name string) (io.ReadCloser, error) {
	if name == optionsproto.Path {
		return io.NopCloser(strings.NewReader(string(optionsproto.Options))), nil
	}
	if path.Dir(name) == "google/type" {
		return googleapis.Files.Open(name)
	}
	return nil, fs.ErrNotExist
}

// behindImports appends a file behind what it imports.
func behindImports(files []*descriptorpb.FileDescriptorProto, f protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return files
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		files = behindImports(files, f.Imports().Get(i).FileDescriptor, seen)
	}
	return append(files, protoutil.ProtoFromFileDescriptor(f))
}

// link makes descriptors of the files. They go through bytes, so that options are what a reader knows of
// them and not what the compiler made of them.
func link(protos []*descriptorpb.FileDescriptorProto, paths []string) (*Files, error) {
	data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: protos})
	if err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil {
		return nil, err
	}
	all, err := schema.Link(set.GetFile())
	if err != nil {
		return nil, err
	}
	return &Files{All: all, Paths: paths}, nil
}
