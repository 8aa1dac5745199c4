// Package source reads schemas from where users have them: a directory of .proto files, a module or a
// workspace of buf, or an image that a compiler wrote. It compiles in this process, needs no network,
// and adds what idem itself is the home of: its options, and google/type. Only where imports are in a
// registry does it run buf.
package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Files are compiled files, with source positions where there were sources.
type Files struct {
	// All are the files and what they import.
	All []protoreflect.FileDescriptor
	// Paths are the files that were asked for, in their order.
	Paths []string
	// Note says how they were read, where a person may wonder; often empty.
	Note string

	// roots are the directories that imports start from, none of an image.
	roots []string
	texts *texts
	// bare are the files without source positions.
	bare map[string]linker.Result
}

// Read reads a directory of .proto files or an image: a FileDescriptorSet, as `buf build -o` and
// `protoc --include_imports --descriptor_set_out` write it. In a directory with a buf.yaml the files are
// those of its modules.
func Read(ctx context.Context, name string) (*Files, error) {
	return read(ctx, name, withPositions)
}

// ReadBare is Read without source positions, which are a third of the work. Locate adds those of a file.
func ReadBare(ctx context.Context, name string) (*Files, error) {
	return read(ctx, name, protocompile.SourceInfoNone)
}

func read(ctx context.Context, name string, mode protocompile.SourceInfoMode) (*Files, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	if info.IsDir() {
		return readDir(ctx, name, mode)
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

// Asked are the files of Paths.
func (f *Files) Asked() []protoreflect.FileDescriptor {
	asked := make(map[string]bool, len(f.Paths))
	for _, path := range f.Paths {
		asked[path] = true
	}
	return slices.DeleteFunc(slices.Clone(f.All), func(file protoreflect.FileDescriptor) bool { return !asked[file.Path()] })
}

// OnDisk is where a file is, and false where it was not read from a directory.
func (f *Files) OnDisk(path string) (string, bool) { return onDisk(f.roots, path) }

// onDisk finds the file of an import.
func onDisk(roots []string, path string) (string, bool) {
	for _, root := range roots {
		file := filepath.Join(root, filepath.FromSlash(path))
		if _, err := os.Stat(file); err == nil {
			return file, true
		}
	}
	return "", false
}

// Source is the text of a file, or nil where it is not on disk.
func (f *Files) Source(path string) []byte {
	for _, root := range f.roots {
		if text, err := f.texts.text(filepath.Join(root, filepath.FromSlash(path))); err == nil {
			return text
		}
	}
	return nil
}
