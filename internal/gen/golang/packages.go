package golang

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/idem-spec/idem/internal/schema"
)

// optionsPackage is the only home of the Go of idem/v1/options.proto: protobuf for Go refuses a second
// one when a program starts.
const optionsPackage = string(idemPackage) + "/idempb"

// PackageRule is the rule of the problems of CheckPackages.
const PackageRule = "PLUG-004"

// ManagedMode are the lines of a buf.gen.yaml that give every file a go_package but that one.
const ManagedMode = `With buf's managed mode these lines of buf.gen.yaml give every file a go_package, and leave idem/v1 the one it has:

managed:
  enabled: true
  disable:
    - path: idem/v1
  override:
    - file_option: go_package_prefix
      value: example.com/gen
`

// CheckPackages refuses files whose Go package is not known, or cannot work; where it does, ManagedMode helps.
// imports are the import paths
// of the M parameters. protogen asks this of every file, imports too, and stops at the first.
func CheckPackages(req *pluginpb.CodeGeneratorRequest, imports map[string]string) []schema.Problem {
	var problems []schema.Problem
	problem := func(f *descriptorpb.FileDescriptorProto, what, mend string) {
		line, column := packageLine(f)
		problems = append(problems, schema.Problem{Position: schema.Position{File: f.GetName(), Line: line, Column: column}, Rule: PackageRule, What: what, Mend: mend})
	}
	for _, f := range needed(req) {
		path := imports[f.GetName()]
		if path == "" {
			path = f.GetOptions().GetGoPackage()
		}
		if what, mend := CheckPackage(path, declaresOptions(f)); what != "" {
			problem(f, what, mend)
		}
	}
	return problems
}

// CheckPackage says what is wrong with a file's Go package, which is "" where none is stated, and how to mend
// it; "" where nothing is. declaresOptions says whether it is idem/v1/options.proto.
func CheckPackage(path string, declaresOptions bool) (what, mend string) {
	path, _, _ = strings.Cut(path, ";")
	switch {
	case declaresOptions && path != optionsPackage:
		return fmt.Sprintf("its go_package is %q and has to be %q", path, optionsPackage), "keep buf's managed mode away from it"
	case path == "":
		return "it has no go_package, and lang=go needs one",
			`add option go_package = "example.com/gen/shop/v1;shopv1"; or enable buf's managed mode`
	case !strings.ContainsAny(path, "./"):
		return fmt.Sprintf("its go_package %q is no import path", path), `write a path with a '.' or '/': "example.com/gen/shop/v1;shopv1"`
	}
	return "", ""
}

// declaresOptions is schema.File.DeclaresOptions before descriptors are linked.
func declaresOptions(f *descriptorpb.FileDescriptorProto) bool {
	if f.GetPackage() != "idem.v1" {
		return false
	}
	for _, x := range f.GetExtension() {
		if x.GetName() == "message" {
			return true
		}
	}
	return false
}

// needed are the files to generate and what they import, directly or not.
func needed(req *pluginpb.CodeGeneratorRequest) []*descriptorpb.FileDescriptorProto {
	byName := make(map[string]*descriptorpb.FileDescriptorProto, len(req.GetProtoFile()))
	for _, f := range req.GetProtoFile() {
		byName[f.GetName()] = f
	}
	var files []*descriptorpb.FileDescriptorProto
	for queue := req.GetFileToGenerate(); len(queue) > 0; queue = queue[1:] {
		f := byName[queue[0]]
		if f == nil {
			continue
		}
		delete(byName, queue[0])
		files = append(files, f)
		queue = append(queue[:len(queue):len(queue)], f.GetDependency()...)
	}
	return files
}

// packageLine is where the package is declared, or 1:1.
func packageLine(f *descriptorpb.FileDescriptorProto) (line, column int) {
	const packageNumber = 2
	for _, loc := range f.GetSourceCodeInfo().GetLocation() {
		if len(loc.GetPath()) == 1 && loc.GetPath()[0] == packageNumber && len(loc.GetSpan()) >= 2 {
			return int(loc.GetSpan()[0]) + 1, int(loc.GetSpan()[1]) + 1
		}
	}
	return 1, 1
}
