// Package golang emits Go over protogen: beside x.pb.go a file x_idem.pb.go, with methods on the
// messages and enums of protoc-gen-go.
//
// The outline: message.go and enum.go are the lists of what is emitted, in the order of the output;
// component.go is the text of one component; access.go is how Go reads a field; names.go and
// packages.go are about names that collide and packages that are not known.
package golang

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/gofeaturespb"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
)

const (
	idemPackage = protogen.GoImportPath("github.com/idem-spec/idem/runtime/go/idem")
	cmpPackage  = protogen.GoImportPath("cmp")
	syncPackage = protogen.GoImportPath("sync")
)

// handshake is the constant of the core that says that it has all that generated code calls. It
// changes with the contract between the two, and not with the plugin's version. (PLUG-006)
const handshake = "IsAtLeastVersion1_0"

// Emit is the emitter of Go.
func Emit(set *schema.Set, files []*schema.File, opts emit.Options) ([]emit.File, []schema.Problem) {
	run := newRun(opts.Go)
	if len(run.problems) > 0 {
		return nil, run.problems
	}
	for _, f := range files {
		if f.Annotated() {
			run.file(f)
		}
	}
	if len(run.problems) > 0 {
		return nil, run.problems
	}
	resp := opts.Go.Response()
	if resp.Error != nil {
		return nil, []schema.Problem{run.failed(files, errors.New(resp.GetError()))}
	}
	out := make([]emit.File, len(run.files))
	for i, head := range resp.GetFile() {
		content, err := run.files[i].below(head.GetContent())
		if err != nil {
			return nil, []schema.Problem{run.failed(files, fmt.Errorf("%s: %w", head.GetName(), err))}
		}
		out[i] = emit.File{Name: head.GetName(), Content: content}
	}
	return out, nil
}

// run is one run of the emitter.
type run struct {
	plugin *protogen.Plugin
	// messages and enums find protogen's view of a descriptor.
	messages map[protoreflect.FullName]*protogen.Message
	enums    map[protoreflect.FullName]*protogen.Enum
	// declared is the declaration behind each top-level name of a Go package.
	declared map[protogen.GoIdent]protoreflect.Descriptor
	// names are the files of the output files so far, by their names in small letters.
	names map[string]*schema.File
	// files are the output files, in the order of protogen's response.
	files    []*file
	problems []schema.Problem
}

func newRun(plugin *protogen.Plugin) *run {
	r := &run{
		plugin:   plugin,
		messages: make(map[protoreflect.FullName]*protogen.Message),
		enums:    make(map[protoreflect.FullName]*protogen.Enum),
		declared: make(map[protogen.GoIdent]protoreflect.Descriptor),
		names:    make(map[string]*schema.File),
	}
	for _, f := range plugin.Files {
		r.indexEnums(f.Enums)
		r.indexMessages(f.Messages)
	}
	return r
}

func (r *run) indexMessages(messages []*protogen.Message) {
	for _, m := range messages {
		if _, known := gofeaturespb.GoFeatures_APILevel_name[int32(m.APILevel)]; !known || m.APILevel == gofeaturespb.GoFeatures_API_LEVEL_UNSPECIFIED {
			r.problems = append(r.problems, schema.At(m.Desc, "PLUG-007",
				fmt.Sprintf("%s has the Go API level %d, which this version does not know", m.Desc.FullName(), m.APILevel), "update protoc-gen-idem"))
		}
		r.messages[m.Desc.FullName()] = m
		r.declared[m.GoIdent] = m.Desc
		r.indexEnums(m.Enums)
		r.indexMessages(m.Messages)
	}
}

func (r *run) indexEnums(enums []*protogen.Enum) {
	for _, e := range enums {
		r.enums[e.Desc.FullName()] = e
		r.declared[e.GoIdent] = e.Desc
		for _, v := range e.Values {
			r.declared[v.GoIdent] = v.Desc
		}
	}
}

// failed is the problem that protogen had with the output: a file outside of module=, or a source
// that does not parse.
func (r *run) failed(files []*schema.File, err error) schema.Problem {
	for _, f := range files {
		prefix := r.plugin.FilesByPath[f.Desc.Path()].GeneratedFilenamePrefix
		if strings.HasPrefix(err.Error(), prefix) {
			return schema.At(f.Desc, "PLUG-005", err.Error(), "")
		}
	}
	return schema.At(files[0].Desc, "PLUG-005", err.Error(), "")
}

// file emits one file.
func (r *run) file(f *schema.File) {
	source := r.plugin.FilesByPath[f.Desc.Path()]
	if !r.checkFile(f) {
		return
	}
	g := &file{head: r.plugin.NewGeneratedFile(r.fileName(f), source.GoImportPath), run: r}
	g.name = g.head.QualifiedGoIdent
	r.files = append(r.files, g)
	g.preamble(source)
	g.handshake()
	for _, m := range f.Messages {
		g.message(m)
	}
	for _, e := range f.Enums {
		g.enum(e)
	}
}

// checkFile refuses an output file that another file has, also one that differs in case alone: not every
// file system tells these apart. (PLUG-005)
func (r *run) checkFile(f *schema.File) bool {
	name := r.fileName(f)
	if other := r.names[strings.ToLower(name)]; other != nil {
		r.problems = append(r.problems, schema.At(f.Desc, "PLUG-005",
			"its Go file would be "+emit.Taken(name, r.fileName(other), other.Desc.Path()), "rename one of the files"))
		return false
	}
	r.names[strings.ToLower(name)] = f
	return true
}

func (r *run) fileName(f *schema.File) string {
	return r.plugin.FilesByPath[f.Desc.Path()].GeneratedFilenamePrefix + "_idem.pb.go"
}

// file is one output file: what is printed stands below the head, which has the package and the imports,
// and is protogen's.
type file struct {
	source
	head *protogen.GeneratedFile
	run  *run
}

// idem qualifies a name of the core.
func (g *file) idem(name string) string { return g.name(idemPackage.Ident(name)) }

// preamble writes the comments above the syntax, which are a licence most of the time, and the package.
func (g *file) preamble(source *protogen.File) {
	const syntaxNumber, editionNumber = 12, 14
	for _, number := range []int32{syntaxNumber, editionNumber} {
		loc := source.Desc.SourceLocations().ByPath(protoreflect.SourcePath{number})
		for _, detached := range loc.LeadingDetachedComments {
			g.head.P(protogen.Comments(detached))
		}
		if loc.LeadingComments != "" {
			g.head.P(protogen.Comments(loc.LeadingComments))
		}
	}
	g.head.P("// Code generated by protoc-gen-idem. DO NOT EDIT.")
	g.head.P("// source: ", source.Desc.Path())
	g.head.P()
	g.head.P("package ", source.GoPackageName)
	g.head.P()
}

func (g *file) handshake() {
	g.P("// This file and the core of idem have to fit. Where ", handshake, " is not defined, the core is older than")
	g.P("// this file: update it, or generate this file again with the plugin of the core's version.")
	g.P("//")
	g.P("//\tgo get ", string(idemPackage), "@latest")
	g.P("const _ = ", g.idem(handshake))
	g.P()
}

// comment writes the lines of a comment of the .proto below the text of a doc comment.
func (g *file) comment(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	g.P("//")
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		g.P("//", strings.TrimRight(line, " \t\r"))
	}
}
