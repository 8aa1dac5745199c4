package gen_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/idem-spec/idem/internal/gen"
	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// refused generates for all languages, and returns the error, within a time that no hostile file may exceed.
func refused(t *testing.T, req *pluginpb.CodeGeneratorRequest) string {
	t.Helper()
	start := time.Now()
	resp := gen.Generate(req)
	require.Less(t, time.Since(start), time.Minute)
	require.NotEmpty(t, resp.GetError())
	require.Empty(t, resp.GetFile())
	return resp.GetError()
}

// sound is a small request whose parts the tests below damage.
func sound(t *testing.T) (*pluginpb.CodeGeneratorRequest, *descriptorpb.FileDescriptorProto) {
	t.Helper()
	req := gentest.Request(t, "lang=go+java+python", gentest.Sources{"t.proto": `
		syntax = "proto3";
		package t.v1;
		import "idem/v1/options.proto";
		option go_package = "example.com/t/v1;tv1";
		message M {
		  option (idem.v1.message) = {idempotency_key: "t.m:{id}"};
		  string id = 1;
		  M next = 2;
		  enum State {
		    option (idem.v1.state_machine) = {transition: {from: "" to: "A"}};
		    STATE_UNSPECIFIED = 0;
		    STATE_A = 1;
		  }
		}`})
	require.Empty(t, gen.Generate(req).GetError())
	return req, req.GetProtoFile()[len(req.GetProtoFile())-1]
}

func TestDeepNestingIsRefused(t *testing.T) {
	t.Parallel()
	req, file := sound(t)
	m := file.GetMessageType()[0]
	for range 5000 {
		inner := &descriptorpb.DescriptorProto{Name: proto.String("N")}
		m.NestedType = append(m.NestedType, inner)
		m = inner
	}
	require.Equal(t, "t.proto: messages are nested more than 100 deep", refused(t, req))
}

func TestPathThroughARecursiveMessageEnds(t *testing.T) {
	t.Parallel()
	req, file := sound(t)
	setKey(file, "t.m:{"+strings.Repeat("next.", 200)+"id}")
	resp := gen.Generate(req)
	require.Empty(t, resp.GetError())

	setKey(file, "t.m:{"+strings.Repeat("next.", 300)+"id}")
	require.Contains(t, refused(t, req), "is 1508 bytes long: use at most 1024")
}

func TestHugeTemplateIsCutInItsError(t *testing.T) {
	t.Parallel()
	req, file := sound(t)
	setKey(file, strings.Repeat("\xff{", 1<<20))
	require.Less(t, len(refused(t, req)), 1000)
}

func setKey(file *descriptorpb.FileDescriptorProto, template string) {
	proto.SetExtension(file.GetMessageType()[0].GetOptions(), idempb.E_Message, &idempb.MessageOptions{IdempotencyKey: proto.String(template)})
}

// A hundred thousand edges, in one line, in a ring, and as a dense graph: with too many states and with as
// many as there may be.
func TestManyEdges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		states int
		edge   func(i int) (from, to int)
		report string
	}{
		{"line", 100001, func(i int) (int, int) { return i, i + 1 }, "has 100002 states: use at most 1000"},
		{"ring", 1000 - 1, func(i int) (int, int) { return i % 999, (i + 1) % 999 }, "lead back: 0 -> 1 -> 2 -> 3 -> … -> 996 -> 997 -> 998 -> 0"},
		{"dense", 1000 - 1, func(i int) (int, int) { a := i % 998; return a, a + 1 + i/998%(998-a) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req, file := sound(t)
			e := file.GetMessageType()[0].GetEnumType()[0]
			e.Value = e.Value[:1]
			for i := range c.states {
				e.Value = append(e.Value, &descriptorpb.EnumValueDescriptorProto{
					Name: proto.String(fmt.Sprintf("STATE_%d", i)), Number: proto.Int32(int32(i + 1)),
				})
			}
			machine := new(idempb.StateMachineOptions)
			for i := range 100000 {
				from, to := c.edge(i)
				machine.Transition = append(machine.Transition, &idempb.StateMachineOptions_Edge{
					From: proto.String(fmt.Sprint(from)), To: proto.String(fmt.Sprint(to)),
				})
			}
			proto.SetExtension(e.GetOptions(), idempb.E_StateMachine, machine)
			if c.report == "" {
				req.Parameter = proto.String("lang=go") // a Java class has less room
				require.Empty(t, gen.Generate(req).GetError())
				return
			}
			require.Contains(t, refused(t, req), c.report)
		})
	}
}

func TestOptionOfAnotherWireType(t *testing.T) {
	t.Parallel()
	req, file := sound(t)
	options := file.GetMessageType()[0].GetOptions()
	proto.ClearExtension(options, idempb.E_Message)
	options.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 73157, protowire.VarintType), 1))
	require.Contains(t, refused(t, req), "(idem.v1.message) cannot be read")
}

func TestDescriptorsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(req *pluginpb.CodeGeneratorRequest, file *descriptorpb.FileDescriptorProto){
		"an import cycle": func(_ *pluginpb.CodeGeneratorRequest, file *descriptorpb.FileDescriptorProto) {
			file.Dependency = append(file.Dependency, "t.proto")
		},
		"a missing import": func(_ *pluginpb.CodeGeneratorRequest, file *descriptorpb.FileDescriptorProto) {
			file.Dependency = append(file.Dependency, "u.proto")
		},
		"a file twice": func(req *pluginpb.CodeGeneratorRequest, file *descriptorpb.FileDescriptorProto) {
			req.ProtoFile = append(req.ProtoFile, proto.Clone(file).(*descriptorpb.FileDescriptorProto))
		},
		"a file that is not there": func(req *pluginpb.CodeGeneratorRequest, _ *descriptorpb.FileDescriptorProto) {
			req.FileToGenerate = append(req.FileToGenerate, "u.proto")
		},
		"an invalid name": func(_ *pluginpb.CodeGeneratorRequest, file *descriptorpb.FileDescriptorProto) {
			file.GetMessageType()[0].Field[0].Name = proto.String("i\xffd\"; }")
		},
		"an unknown type": func(_ *pluginpb.CodeGeneratorRequest, file *descriptorpb.FileDescriptorProto) {
			file.GetMessageType()[0].Field[1].TypeName = proto.String(".t.v1.Nothing")
		},
		"an unknown edition": func(_ *pluginpb.CodeGeneratorRequest, file *descriptorpb.FileDescriptorProto) {
			file.Syntax, file.Edition = proto.String("editions"), descriptorpb.Edition_EDITION_MAX.Enum()
		},
	} {
		for _, parameter := range []string{"lang=go", "lang=java", "lang=python"} {
			t.Run(name+" "+parameter, func(t *testing.T) {
				t.Parallel()
				req, file := sound(t)
				req.Parameter = proto.String(parameter)
				damage(req, file)
				refused(t, req)
			})
		}
	}
}

// Sound requests of which a few parts are exchanged for parts of others: what a compiler would refuse, a
// plugin has to answer all the same.
func TestDamagedRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(1))
	original := conformanceRequest(t, "lang=go+java+python")
	for range 150 {
		req := proto.Clone(original).(*pluginpb.CodeGeneratorRequest)
		name := req.GetFileToGenerate()[r.Intn(len(req.GetFileToGenerate()))]
		req.FileToGenerate = []string{name}
		for _, file := range req.GetProtoFile() {
			if file.GetName() == name {
				for range 1 + r.Intn(3) {
					mutate(r, file.ProtoReflect())
				}
			}
		}
		answer(t, req)
	}
}

// mutate changes one field somewhere in a message: it is cleared, or exchanged for a neighbour or for
// something odd.
func mutate(r *rand.Rand, m protoreflect.Message) {
	var set []protoreflect.FieldDescriptor
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		set = append(set, fd)
		return true
	})
	if len(set) == 0 {
		return
	}
	// Range is in no order.
	slices.SortFunc(set, func(a, b protoreflect.FieldDescriptor) int { return cmp.Compare(a.Number(), b.Number()) })
	fd := set[r.Intn(len(set))]
	v := m.Get(fd)
	switch {
	case r.Intn(20) == 0:
		m.Clear(fd)
	case fd.IsList() && v.List().Len() > 0:
		list := m.Mutable(fd).List()
		i := r.Intn(list.Len())
		if fd.Message() != nil {
			if r.Intn(8) == 0 {
				list.Append(list.Get(r.Intn(list.Len())))
				return
			}
			mutate(r, list.Get(i).Message())
			return
		}
		list.Set(i, odd(r, fd))
	case fd.Message() != nil && !fd.IsMap():
		mutate(r, m.Mutable(fd).Message())
	case !fd.IsMap():
		m.Set(fd, odd(r, fd))
	}
}

func odd(r *rand.Rand, fd protoreflect.FieldDescriptor) protoreflect.Value {
	texts := []string{"", "id", "next", "M", ".idem.conformance.v1.Customer", ".google.protobuf.Timestamp", "a.b", "t:{id}", "{id}", "class",
		"String", "idem.conformance.v1.InvoiceState", "t:{customer.address.city}:{x}", "\xff", "IDEM", "0", "go/../x.proto", strings.Repeat("x", 3000)}
	switch fd.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(texts[r.Intn(len(texts))])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(bytes.Repeat([]byte{0xff}, r.Intn(4)))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.Intn(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(r.Intn(22) - 1))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(r.Intn(12) - 2))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(r.Intn(12) - 2))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(r.Intn(12)))
	}
	return fd.Default()
}

// PLUG-005: an output file that another .proto file has, or that differs in case alone from it, which not every file
// system tells apart.
func TestOutputFilesCollide(t *testing.T) {
	t.Parallel()
	file := func(n int) string {
		return fmt.Sprintf(`syntax = "proto3";
			package t.v%d;
			import "idem/v1/options.proto";
			option go_package = "example.com/t/v1;tv1";
			message M%[1]d {
			  option (idem.v1.message) = {idempotency_key: "t.m%[1]d:{id}"};
			  string id = 1;
			}`, n)
	}
	for _, test := range []struct{ parameter, first, second, want string }{
		{"lang=go", "a/t.proto", "b/t.proto",
			"b/t.proto:1:1: its Go file would be example.com/t/v1/t_idem.pb.go, as that of a/t.proto is: rename one of the files"},
		{"lang=go", "a/T.proto", "b/t.proto",
			"b/t.proto:1:1: its Go file would be example.com/t/v1/t_idem.pb.go, which case alone tells from example.com/t/v1/T_idem.pb.go of a/T.proto, and not every file system does: rename one of the files"},
		{"lang=python", "a-b.proto", "A_b.proto",
			"a-b.proto:1:1: its Python module would be a_b_idem.py, which case alone tells from A_b_idem.py of A_b.proto, and not every file system does: rename one of the files"},
	} {
		sources := gentest.Sources{test.first: file(1), test.second: file(2)}
		require.Equal(t, test.want, refused(t, gentest.Request(t, test.parameter, sources)))
	}
}
