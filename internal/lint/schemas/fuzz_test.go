package schemas_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/catalog"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// An image may be anything: what can be linked is linted, without a panic, and twice alike.
func FuzzImage(f *testing.F) {
	for _, e := range catalog.All() {
		if e.Kind != lint.Schema {
			continue
		}
		sources := make(gentest.Sources)
		for _, file := range e.Bad {
			if strings.HasSuffix(file.Name, ".proto") {
				sources[file.Name] = string(file.Data)
			}
		}
		req, err := gentest.Compile(gentest.Root(f), "", sources)
		if err != nil {
			f.Fatalf("%s: %v", e.ID, err)
		}
		b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: smaller(req.GetProtoFile())})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		set := new(descriptorpb.FileDescriptorSet)
		if proto.Unmarshal(b, set) != nil {
			return
		}
		files, err := schema.Link(set.GetFile())
		if err != nil {
			return
		}
		lintTwice(t, files)
	})
}

// Options may say anything, in a file with a field of each kind.
func FuzzOptions(f *testing.F) {
	req, err := gentest.Compile(gentest.Root(f), "", gentest.Sources{"t.proto": head + everyKind})
	if err != nil {
		f.Fatal(err)
	}
	files := smaller(req.GetProtoFile())
	for _, m := range []*idempb.MessageOptions{
		{IdempotencyKey: proto.String("t.m:v1:{s}:{at}"), BizKey: proto.String("{s}"), Fingerprint: proto.String("{amount}:{price}")},
		{IdempotencyKey: proto.String("t.m:v2:{m.s}"), IdempotencyKeyPrevious: proto.String("t.m:v1:{s}"), OccurredAt: proto.String("{at}")},
		{
			IdempotencyKey: proto.String("t.m:{flag}:{e}"), BizKey: proto.String("t.m:{e}:{wait}:{day}:{cost}"),
			Retry:      &idempb.RetryOptions{MaxRetry: proto.Int32(3), BackoffScheduleMs: []int32{3, 2, 1, 0}},
			Transition: &idempb.TransitionOptions{StateMachine: proto.String("t.v1.E"), From: proto.String("A"), To: proto.String("B")},
		},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, []byte("\x28\x02"), []byte("\x0a\x05\x0a\x00\x12\x01A\x0a\x06\x0a\x01A\x12\x01B"), []byte("\x08\x01"))
	}
	f.Fuzz(func(t *testing.T, message, field, machine, failure []byte) {
		last := proto.Clone(files[len(files)-1]).(*descriptorpb.FileDescriptorProto)
		set := func(o proto.Message, number protowire.Number, value []byte) {
			o.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value))
		}
		for _, m := range last.MessageType {
			m.Options = new(descriptorpb.MessageOptions)
			set(m.Options, 73157, message)
			for _, d := range m.Field {
				d.Options = new(descriptorpb.FieldOptions)
				set(d.Options, 73157, field)
			}
		}
		last.EnumType[0].Options = new(descriptorpb.EnumOptions)
		set(last.EnumType[0].Options, 73157, machine)
		last.EnumType[0].Value[1].Options = new(descriptorpb.EnumValueOptions)
		set(last.EnumType[0].Value[1].Options, 73158, failure)
		linked, err := schema.Link(append(slices.Clone(files[:len(files)-1]), last))
		if err != nil {
			t.Fatal(err)
		}
		lintTwice(t, linked)
	})
}

const everyKind = `
message M {
  string s = 1; bytes raw = 2; optional bool flag = 3; E e = 4; optional int64 paid_at_ms = 5; string amount = 6;
  google.type.Decimal cost = 7; google.type.Money price = 8; google.protobuf.Timestamp at = 9; google.protobuf.Duration wait = 10;
  google.type.Date day = 11; google.protobuf.StringValue order_uuid = 12; M m = 13; repeated M all = 14; map<string, M> named = 15;
  oneof choice { string left = 16; double fee = 17; }
}
enum E { E_UNSPECIFIED = 0; E_A = 1; E_B = 2; }
`

// lintTwice runs all rules over files in two orders, and checks what holds for all findings.
func lintTwice(t *testing.T, files []protoreflect.FileDescriptor) {
	t.Helper()
	in := schemas.Input{Files: files, Facts: everyFact, Source: func(string) []byte { return []byte("x;\n") }}
	for _, file := range files {
		in.Paths = append(in.Paths, file.Path())
	}
	all := func(*lint.Rule) bool { return true }
	found := schemas.Run(in, all)
	for _, finding := range found {
		checkFinding(t, in.Paths, finding)
	}
	in.Files = slices.Clone(files)
	slices.Reverse(in.Files)
	again := schemas.Run(in, all)
	if !slices.EqualFunc(found, again, func(a, b lint.Finding) bool {
		return a.Rule == b.Rule && a.What == b.What && a.Mend == b.Mend
	}) {
		t.Fatal("the findings depend on the order of the files")
	}
}

func checkFinding(t *testing.T, paths []string, f lint.Finding) {
	t.Helper()
	switch {
	case f.What == "" || f.Mend == "" || !utf8.ValidString(f.What+f.Mend):
		t.Fatalf("%s says %q, %q", f.Rule.ID, f.What, f.Mend)
	case !slices.Contains(paths, f.Position.File) || f.Position.Line < 1 || f.Position.Column < 1:
		t.Fatalf("%s is at %+v", f.Rule.ID, f.Position)
	}
}

// everyFact is what idem.yaml can declare, such that each rule has something to find.
var everyFact = config.Facts{Default: config.Fact{
	EventsPerSecondPerBizKey: ptr(int64(1 << 62)), Consumers: ptr(int64(2)),
	DedupRetention: ptr(time.Second), TopicRetention: ptr(time.Hour), KeyReaders: ptr("everyone"),
}}

// smaller leaves out what options need and the linter does not, and source information: a mutation of a small
// image reaches further.
func smaller(files []*descriptorpb.FileDescriptorProto) []*descriptorpb.FileDescriptorProto {
	unneeded := func(name string) bool {
		return name == "idem/v1/options.proto" || name == "google/protobuf/descriptor.proto"
	}
	files = slices.DeleteFunc(files, func(file *descriptorpb.FileDescriptorProto) bool { return unneeded(file.GetName()) })
	for _, file := range files {
		file.SourceCodeInfo = nil
		file.Dependency = slices.DeleteFunc(file.Dependency, unneeded)
	}
	return files
}
