package golang

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/gofeaturespb"

	"github.com/idem-spec/idem/internal/schema"
)

// checkMethods refuses a message whose Go struct has a field with the name of a method. The opaque API
// has no such fields. (PLUG-005)
func (r *run) checkMethods(t *target) {
	if t.message.APILevel == gofeaturespb.GoFeatures_API_OPAQUE {
		return
	}
	methods := make(map[string]bool, len(t.methods))
	for _, name := range t.methods {
		methods[name] = true
	}
	for _, field := range t.message.Fields {
		var decl protoreflect.Descriptor = field.Desc
		name := field.GoName
		if field.Oneof != nil && !field.Oneof.Desc.IsSynthetic() {
			decl, name = field.Oneof.Desc, field.Oneof.GoName
			if field.Oneof.Fields[0] != field {
				continue
			}
		}
		if methods[name] {
			r.problems = append(r.problems, schema.At(decl, "PLUG-005",
				fmt.Sprintf("%s is the field %s in Go, and idem generates a method of that name", decl.FullName(), name),
				"rename it, or use the opaque API (features.(pb.go).api_level = API_OPAQUE)"))
		}
	}
}

// checkDeclared refuses a function with the name of something that protoc-gen-go declares.
func (r *run) checkDeclared(d protoreflect.Descriptor, name protogen.GoIdent) {
	if other := r.declared[name]; other != nil {
		r.problems = append(r.problems, schema.At(other, "PLUG-005",
			fmt.Sprintf("%s is %s in Go, and idem generates a function of that name for %s", other.FullName(), name.GoName, d.FullName()),
			"rename one of them"))
	}
}

// locals are the names of generated functions, which an imported package must not have.
var locals = []string{"at", "b", "buf", "c", "current", "dst", "err", "key", "m", "mark", "n", "ok", "policy", "start", "text", "x"}

// renamed marks an import path whose package needs another name in the file; ImportPath takes it off.
const renamed = "#pb"

// qualified is QualifiedGoIdent inside of a function.
func (g *file) qualified(name protogen.GoIdent) string {
	if slices.Contains(locals, path.Base(string(name.GoImportPath))) {
		name.GoImportPath += renamed
	}
	return g.name(name)
}

// ImportPath is the import path to write for one of protogen's.
func ImportPath(p protogen.GoImportPath) protogen.GoImportPath {
	return protogen.GoImportPath(strings.TrimSuffix(string(p), renamed))
}
