// Package gen is protoc-gen-idem: it reads a request of protoc or buf, builds the Schema once, and
// runs the emitters of the chosen languages over it.
package gen

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/gen/golang"
	"github.com/idem-spec/idem/internal/gen/java"
	"github.com/idem-spec/idem/internal/gen/python"
	"github.com/idem-spec/idem/internal/schema"
)

// languages are the values of lang=, in the order in which they are emitted.
var languages = []struct {
	name string
	emit emit.Emitter
}{
	{"go", golang.Emit},
	{"java", java.Emit},
	{"python", python.Emit},
}

// Run reads one request and writes the response. What is wrong with a schema or a parameter is part
// of the response; an error is for what is wrong between the compiler and the plugin.
func Run(in io.Reader, out io.Writer) error {
	b, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	req := new(pluginpb.CodeGeneratorRequest)
	if err := proto.Unmarshal(b, req); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	b, err = proto.Marshal(guarded(req))
	if err != nil {
		return fmt.Errorf("write the response: %w", err)
	}
	_, err = out.Write(b)
	return err
}

// guarded turns a panic into an error of the response: the compiler then says whose it is, and which
// files are concerned.
func guarded(req *pluginpb.CodeGeneratorRequest) (resp *pluginpb.CodeGeneratorResponse) {
	defer func() {
		if p := recover(); p != nil {
			resp = response()
			resp.Error = proto.String(fmt.Sprintf("protoc-gen-idem %s failed, which is a bug: please report it with these lines and the .proto\n%v\n%s",
				emit.PluginVersion, p, debug.Stack()))
		}
	}()
	return Generate(req)
}

// response is an empty response that says what the plugin can read.
func response() *pluginpb.CodeGeneratorResponse {
	return &pluginpb.CodeGeneratorResponse{
		SupportedFeatures: proto.Uint64(uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL |
			pluginpb.CodeGeneratorResponse_FEATURE_SUPPORTS_EDITIONS)),
		MinimumEdition: proto.Int32(int32(descriptorpb.Edition_EDITION_PROTO2)),
		MaximumEdition: proto.Int32(int32(descriptorpb.Edition_EDITION_2024)),
	}
}

// Generate answers a request. The files of the response are sorted by name.
func Generate(req *pluginpb.CodeGeneratorRequest) *pluginpb.CodeGeneratorResponse {
	resp := response()
	files, err := generate(req)
	if err != nil {
		resp.Error = proto.String(strings.ToValidUTF8(err.Error(), "\uFFFD"))
		return resp
	}
	for _, f := range files {
		resp.File = append(resp.File, &pluginpb.CodeGeneratorResponse_File{
			Name:    proto.String(f.Name),
			Content: proto.String(f.Content),
		})
	}
	return resp
}

func generate(req *pluginpb.CodeGeneratorRequest) ([]emit.File, error) {
	params, err := parseParameters(req.GetParameter())
	if err != nil {
		return nil, err
	}
	set, plugin, problems, err := load(req, params)
	if err != nil {
		return nil, err
	}
	opts := emit.Options{Go: plugin, Support: params.support, SupportPackage: params.supportPackage}
	var files []emit.File
	if len(problems) == 0 {
		for _, lang := range languages {
			if !params.langs[lang.name] {
				continue
			}
			emitted, found := lang.emit(set, set.Files, opts)
			files = append(files, emitted...)
			problems = append(problems, found...)
		}
	}
	if len(problems) > 0 {
		return nil, refusal(problems)
	}
	slices.SortStableFunc(files, func(a, b emit.File) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(files); i++ {
		if files[i].Name == files[i-1].Name {
			return nil, fmt.Errorf("two .proto files would both become %s: rename one of them", files[i].Name)
		}
	}
	return files, nil
}

// refusal is all problems of a run in one error.
func refusal(problems []schema.Problem) error {
	report := schema.Report(schema.Sorted(problems))
	if slices.ContainsFunc(problems, func(p schema.Problem) bool { return p.Rule == golang.PackageRule }) {
		report += "\n\n" + golang.ManagedMode
	}
	return errors.New(report)
}

// load reads the options of the request's files. The plugin is nil where lang has no go, and where a
// problem stopped protogen, whose own words name one file and no position.
func load(req *pluginpb.CodeGeneratorRequest, params *parameters) (*schema.Set, *protogen.Plugin, []schema.Problem, error) {
	if err := checkFiles(req); err != nil {
		return nil, nil, nil, err
	}
	var plugin *protogen.Plugin
	var problems []schema.Problem
	if params.langs["go"] {
		problems = golang.CheckPackages(req, params.goImports)
		if len(problems) == 0 {
			var err error
			if plugin, err = newPlugin(req, params); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	descs, err := linked(req, plugin)
	if err != nil {
		return nil, nil, nil, err
	}
	set, found := schema.Build(descs, req.GetFileToGenerate())
	return set, plugin, append(problems, found...), nil
}

// linked are the descriptors of all files. protogen has linked them already, save those that no file to
// generate imports: these may declare a state machine all the same.
func linked(req *pluginpb.CodeGeneratorRequest, plugin *protogen.Plugin) ([]protoreflect.FileDescriptor, error) {
	if plugin == nil || len(plugin.Files) != len(req.GetProtoFile()) {
		return schema.Link(req.GetProtoFile())
	}
	descs := make([]protoreflect.FileDescriptor, len(plugin.Files))
	for i, f := range plugin.Files {
		descs[i] = f.Desc
	}
	return descs, nil
}

// newPlugin hands protogen the request with the parameters that are its own.
func newPlugin(req *pluginpb.CodeGeneratorRequest, params *parameters) (*protogen.Plugin, error) {
	own := &pluginpb.CodeGeneratorRequest{
		FileToGenerate:  req.FileToGenerate,
		Parameter:       proto.String(strings.Join(params.protogen, ",")),
		ProtoFile:       req.ProtoFile,
		CompilerVersion: req.CompilerVersion,
	}
	return protogen.Options{ImportRewriteFunc: golang.ImportPath}.New(own)
}

// maxNesting is the most messages inside each other. Compilers allow 32; full names grow with the
// square of it.
const maxNesting = 100

// checkFiles refuses what no compiler sends.
func checkFiles(req *pluginpb.CodeGeneratorRequest) error {
	there := make(map[string]bool, len(req.GetProtoFile()))
	for _, f := range req.GetProtoFile() {
		if there[f.GetName()] {
			return fmt.Errorf("the compiler's request has %s twice", f.GetName())
		}
		there[f.GetName()] = true
		if deeper(f.GetMessageType(), 1) {
			return fmt.Errorf("%s: messages are nested more than %d deep", f.GetName(), maxNesting)
		}
	}
	for _, name := range req.GetFileToGenerate() {
		if !there[name] {
			return fmt.Errorf("the compiler's request asks for %s and does not have it", name)
		}
	}
	return nil
}

// deeper says whether messages of that depth contain any that are too deep.
func deeper(messages []*descriptorpb.DescriptorProto, depth int) bool {
	for _, m := range messages {
		if depth > maxNesting || deeper(m.GetNestedType(), depth+1) {
			return true
		}
	}
	return false
}
