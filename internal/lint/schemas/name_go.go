package schemas

import (
	"path"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/gen/golang"
	"github.com/idem-spec/idem/internal/schema"
)

// goCollisions runs the emitter of Go over the files in which a name could collide. protogen, which knows
// the names that protoc-gen-go gives, needs descriptors of its own, and that takes longer than all other rules
// together; so it is asked where a name begins as a generated one does, and otherwise not.
func (p *pass) goCollisions() []schema.Problem {
	files := p.suspects()
	if len(files) == 0 {
		return nil
	}
	req := new(pluginpb.CodeGeneratorRequest)
	seen := make(map[string]bool)
	for _, f := range p.files {
		addFile(req, f, seen)
	}
	for _, f := range files {
		req.FileToGenerate = append(req.FileToGenerate, f.Desc.Path())
	}
	plugin, err := protogen.Options{ImportRewriteFunc: golang.ImportPath}.New(req)
	if err != nil {
		return nil // packages that contradict each other, which protoc-gen-go says
	}
	_, problems := golang.Emit(p.set, files, emit.Options{Go: plugin})
	return problems
}

// addFile adds a file behind what it imports.
func addFile(req *pluginpb.CodeGeneratorRequest, f protoreflect.FileDescriptor, seen map[string]bool) {
	if seen[f.Path()] || f.IsPlaceholder() {
		return
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		addFile(req, f.Imports().Get(i).FileDescriptor, seen)
	}
	d := protodesc.ToFileDescriptorProto(f)
	if goPackage(f) == "" {
		if d.Options == nil {
			d.Options = new(descriptorpb.FileOptions)
		}
		d.Options.GoPackage = proto.String("example.com/" + path.Dir(f.Path()))
	}
	req.ProtoFile = append(req.ProtoFile, d)
}

// suspects are the annotated files in which a name could collide in Go: those with a field that is named as
// a method, with a machine where something is named as a function, and with an output file that another
// file has.
func (p *pass) suspects() []*schema.File {
	parse := false
	for _, f := range p.files {
		parse = parse || declaresParse(f)
	}
	outputs := make(map[string]int)
	for _, f := range p.annotated() {
		outputs[goFile(f.Desc)]++
	}
	var files []*schema.File
	for _, f := range p.annotated() {
		if outputs[goFile(f.Desc)] > 1 || parse && hasMachine(f) || hasMethodField(f) {
			files = append(files, f)
		}
	}
	return files
}

// goFile tells output files apart as a file system does that does not know cases.
func goFile(f protoreflect.FileDescriptor) string {
	pkg, _, _ := strings.Cut(goPackage(f), ";")
	if pkg == "" {
		pkg = path.Dir(f.Path())
	}
	return strings.ToLower(pkg + "/" + path.Base(f.Path()))
}

// declaresParse says whether a top-level name of a file begins as that of a function that idem generates.
func declaresParse(f protoreflect.FileDescriptor) bool {
	for i := range f.Messages().Len() {
		if beginsWith(f.Messages().Get(i).Name(), "idemparse") {
			return true
		}
	}
	for i := range f.Enums().Len() {
		if e := f.Enums().Get(i); beginsWith(e.Name(), "idemparse") {
			return true
		}
	}
	return false
}

func hasMachine(f *schema.File) bool {
	for _, e := range f.Enums {
		if e.Machine != nil {
			return true
		}
	}
	return false
}

// hasMethodField says whether a field or a oneof of an annotated message is named as a method that idem
// generates.
func hasMethodField(f *schema.File) bool {
	named := func(d protoreflect.Descriptor) bool {
		return beginsWith(d.Name(), "idem") || beginsWith(d.Name(), "appendidem")
	}
	for _, m := range f.Messages {
		for i := range m.Desc.Fields().Len() {
			if named(m.Desc.Fields().Get(i)) {
				return true
			}
		}
		for i := range m.Desc.Oneofs().Len() {
			if named(m.Desc.Oneofs().Get(i)) {
				return true
			}
		}
	}
	return false
}

// beginsWith says whether a name begins so, whatever its case and its '_'.
func beginsWith(name protoreflect.Name, prefix string) bool {
	for i := 0; len(prefix) > 0 && i < len(name); i++ {
		c := name[i]
		switch {
		case c == '_':
			continue
		case c|0x20 != prefix[0]:
			return false
		}
		prefix = prefix[1:]
	}
	return prefix == ""
}
