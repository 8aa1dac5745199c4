package gen_test

import (
	"go/format"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/idem-spec/idem/internal/gen"
	"github.com/idem-spec/idem/internal/gen/gentest"
)

// answer generates, and checks what holds for every answer.
func answer(t *testing.T, req *pluginpb.CodeGeneratorRequest) {
	t.Helper()
	resp := gen.Generate(req)
	if _, err := proto.Marshal(resp); err != nil {
		t.Fatalf("the response cannot be sent: %v", err)
	}
	if resp.Error != nil {
		if len(resp.GetFile()) > 0 {
			t.Fatal("files beside an error")
		}
		return
	}
	for _, f := range resp.GetFile() {
		if !strings.HasSuffix(f.GetName(), ".go") {
			continue
		}
		formatted, err := format.Source([]byte(f.GetContent()))
		if err != nil || string(formatted) != f.GetContent() {
			t.Fatalf("%s is not formatted: %v", f.GetName(), err)
		}
	}
}

// A request may be anything: it is answered, without a panic.
func FuzzPluginRequest(f *testing.F) {
	for _, pattern := range []string{"testdata/go/*", "testdata/refused/*"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil || len(dirs) == 0 {
			f.Fatalf("no seeds in %s (%v)", pattern, err)
		}
		for _, dir := range dirs {
			req, err := gentest.Compile(gentest.Root(f), "lang=go+java+python", gentest.Dir(f, dir))
			if err != nil {
				f.Fatal(err)
			}
			b, err := proto.Marshal(smaller(req))
			if err != nil {
				f.Fatal(err)
			}
			if len(b) < 4096 {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		req := new(pluginpb.CodeGeneratorRequest)
		if proto.Unmarshal(b, req) == nil {
			answer(t, req)
		}
	})
}

// smaller leaves out what options need and the plugin does not, since a mutation of a small request
// reaches further.
func smaller(req *pluginpb.CodeGeneratorRequest) *pluginpb.CodeGeneratorRequest {
	unneeded := func(name string) bool {
		return name == "idem/v1/options.proto" || name == "google/protobuf/descriptor.proto"
	}
	req.ProtoFile = slices.DeleteFunc(req.ProtoFile, func(file *descriptorpb.FileDescriptorProto) bool {
		return unneeded(file.GetName())
	})
	for _, file := range req.GetProtoFile() {
		file.Dependency = slices.DeleteFunc(file.Dependency, unneeded)
		file.Extension = nil
		file.SourceCodeInfo = nil
	}
	return req
}

// The bytes of the options may be anything, in a file that is sound otherwise.
func FuzzOptions(f *testing.F) {
	f.Add([]byte("\x0a\x08t.m:{id}"), []byte("\x22\x01"), []byte("\x0a\x05\x0a\x01A\x12\x00"), []byte("\x0a\x01A"), []byte("\x08\x04"))
	f.Add([]byte("\x0a\x09t.m:{s.e}\x1a\x04{id}\x22\x04{id}\x2a\x04{at}\x32\x02\x08\x01\x3a\x0d\x0a\x05t.v.E\x12\x01A\x1a\x01B"),
		[]byte("\x0a\x02\x08\x02"), []byte("\x0a\x06\x0a\x01A\x12\x01B"), []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, message, field, machine, state, failure []byte) {
		answer(t, optionsRequest(t, message, field, machine, state, failure))
	})
}

// optionsRequest is a request for a file whose options are the given bytes.
func optionsRequest(t *testing.T, message, field, machine, state, failure []byte) *pluginpb.CodeGeneratorRequest {
	t.Helper()
	option := func(number protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
	}
	messageOptions := new(descriptorpb.MessageOptions)
	fieldOptions := new(descriptorpb.FieldOptions)
	enumOptions := new(descriptorpb.EnumOptions)
	valueOptions := new(descriptorpb.EnumValueOptions)
	for _, o := range []struct {
		into  proto.Message
		bytes []byte
	}{
		{messageOptions, option(73157, message)},
		{fieldOptions, option(73157, field)},
		{enumOptions, option(73157, machine)},
		{valueOptions, append(option(73157, state), option(73158, failure)...)},
	} {
		if err := (proto.UnmarshalOptions{}).Unmarshal(o.bytes, o.into); err != nil {
			t.Skip("no options")
		}
	}
	text := descriptorpb.FieldDescriptorProto_TYPE_STRING
	fieldOf := func(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type, typeName string, options *descriptorpb.FieldOptions) *descriptorpb.FieldDescriptorProto {
		d := &descriptorpb.FieldDescriptorProto{
			Name: proto.String(name), Number: proto.Int32(number), Type: kind.Enum(), Options: options,
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), JsonName: proto.String(name),
		}
		if typeName != "" {
			d.TypeName = proto.String(typeName)
		}
		return d
	}
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("t.proto"), Package: proto.String("t.v"), Syntax: proto.String("proto3"),
		Options: &descriptorpb.FileOptions{GoPackage: proto.String("example.com/t;tv")},
		MessageType: []*descriptorpb.DescriptorProto{{
			Name: proto.String("M"), Options: messageOptions,
			Field: []*descriptorpb.FieldDescriptorProto{
				fieldOf("id", 1, text, "", fieldOptions),
				fieldOf("n", 2, descriptorpb.FieldDescriptorProto_TYPE_INT64, "", fieldOptions),
				fieldOf("s", 3, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, ".t.v.M", fieldOptions),
				fieldOf("e", 4, descriptorpb.FieldDescriptorProto_TYPE_ENUM, ".t.v.E", nil),
				fieldOf("at", 5, text, "", fieldOptions),
			},
		}},
		EnumType: []*descriptorpb.EnumDescriptorProto{{
			Name: proto.String("E"), Options: enumOptions,
			Value: []*descriptorpb.EnumValueDescriptorProto{
				{Name: proto.String("E_UNSPECIFIED"), Number: proto.Int32(0)},
				{Name: proto.String("E_A"), Number: proto.Int32(1), Options: valueOptions},
				{Name: proto.String("E_B"), Number: proto.Int32(2)},
			},
		}},
	}
	return &pluginpb.CodeGeneratorRequest{
		Parameter:      proto.String("lang=go+java+python"),
		FileToGenerate: []string{"t.proto"},
		ProtoFile:      []*descriptorpb.FileDescriptorProto{file},
	}
}
