// Package gentest compiles .proto files in the process, for tests of the schema and of the emitters.
package gentest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// Sources are .proto files by their import paths.
type Sources map[string]string

// Dir reads the .proto files of a directory, by their names.
func Dir(tb testing.TB, dir string) Sources {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no .proto in %s (%v)", dir, err)
	}
	sources := make(Sources)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		sources[filepath.Base(path)] = string(text)
	}
	return sources
}

// Root is the directory of the repository.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "buf.yaml")); statErr == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	tb.Fatalf("no buf.yaml above the working directory (%v)", err)
	return ""
}

// Request compiles sources and makes the request that a compiler would send: all files that the ones to
// generate need, imports first, with source information. The repository's own .proto files can be imported,
// and generated where files names them. Without files all sources are generated.
func Request(tb testing.TB, parameter string, sources Sources, files ...string) *pluginpb.CodeGeneratorRequest {
	tb.Helper()
	req, err := Compile(Root(tb), parameter, sources, files...)
	if err != nil {
		tb.Fatalf("compile: %v", err)
	}
	return req
}

// Compile is Request without a test.
func Compile(root, parameter string, sources Sources, files ...string) (*pluginpb.CodeGeneratorRequest, error) {
	if len(files) == 0 {
		for name := range sources {
			files = append(files, name)
		}
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: []string{"", filepath.Join(root, "proto"), filepath.Join(root, "third_party", "googleapis")},
			Accessor: func(path string) (io.ReadCloser, error) {
				if text, ok := sources[path]; ok {
					return io.NopCloser(strings.NewReader(text)), nil
				}
				if !filepath.IsAbs(path) {
					return nil, os.ErrNotExist
				}
				return os.Open(path)
			},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	linked, err := compiler.Compile(context.Background(), files...)
	if err != nil {
		return nil, err
	}
	req := &pluginpb.CodeGeneratorRequest{FileToGenerate: files, Parameter: proto.String(parameter)}
	seen := make(map[string]bool)
	for _, f := range linked {
		req.ProtoFile = appendFile(req.ProtoFile, f, seen)
	}
	// As a compiler sends it: options are bytes, which the plugin reads as it knows them.
	b, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	fresh := new(pluginpb.CodeGeneratorRequest)
	return fresh, proto.Unmarshal(b, fresh)
}

// appendFile appends a file behind what it imports.
func appendFile(files []*descriptorpb.FileDescriptorProto, f protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return files
	}
	seen[f.Path()] = true
	for i := 0; i < f.Imports().Len(); i++ {
		files = appendFile(files, f.Imports().Get(i).FileDescriptor, seen)
	}
	return append(files, protoutil.ProtoFromFileDescriptor(f))
}
