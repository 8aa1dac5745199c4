package schema_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// build reads the options of sources.
func build(t *testing.T, sources gentest.Sources) (*schema.Set, []schema.Problem) {
	t.Helper()
	req := gentest.Request(t, "", sources)
	return buildFiles(t, req.GetProtoFile(), req.GetFileToGenerate())
}

func buildFiles(t *testing.T, files []*descriptorpb.FileDescriptorProto, paths []string) (*schema.Set, []schema.Problem) {
	t.Helper()
	descs, err := schema.Link(files)
	require.NoError(t, err)
	return schema.Build(descs, paths)
}

// file is a .proto with a head and the given rest.
func file(rest string) gentest.Sources {
	return gentest.Sources{"t.proto": `syntax = "proto3"; package t.v1; import "idem/v1/options.proto"; ` + rest}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	set, problems := build(t, gentest.Sources{"t.proto": `
		syntax = "proto3";
		package t.v1;
		import "google/protobuf/timestamp.proto";
		import "google/protobuf/wrappers.proto";
		import "google/type/decimal.proto";
		import "idem/v1/options.proto";
		message M {
		  // Why.
		  option (idem.v1.message) = {
		    idempotency_key: "t.m:{plain}:v1:{sub.unsigned}:{sub.wrapped}"
		    biz_key: "{decimal}:{text}"
		    fingerprint: "{epoch}:{at}"
		    occurred_at: "{at}"
		  };
		  string plain = 1;
		  Sub sub = 2 [debug_redact = true];
		  google.type.Decimal decimal = 3;
		  string text = 4 [(idem.v1.field) = {decimal: {max_scale: 0} missing: MISSING_ALLOW}];
		  sfixed64 epoch = 5 [(idem.v1.field) = {timestamp: {unit: TIME_UNIT_US fraction_digits: 0} missing: MISSING_ERROR}];
		  google.protobuf.Timestamp at = 6;
		}
		message Sub {
		  uint32 unsigned = 1 [(idem.v1.field) = {missing: MISSING_ALLOW digest: DIGEST_SHA256}];
		  google.protobuf.StringValue wrapped = 2 [(idem.v1.field) = {uuid: true digest: DIGEST_SHA256}];
		}`})
	require.Empty(t, problems)
	m := set.Message("t.v1.M")
	require.NotNil(t, m)
	require.Nil(t, set.Message("t.v1.Sub"))
	require.Equal(t, "t.m", m.EventType)
	require.Equal(t, " Why.\n", m.Comment)
	require.Len(t, m.Templates(), 3)
	require.Nil(t, m.Retry)
	require.Nil(t, m.Transition)

	require.Equal(t, "t.m:{plain}:v1:{sub.unsigned}:{sub.wrapped}", m.Key.Text)
	require.Len(t, m.Key.Segments, 5)
	require.Equal(t, schema.Segment{Literal: "v1"}, m.Key.Segments[2])
	require.Equal(t, shape{Name: "plain", Kind: "string", MaxScale: -1, Digits: 3}, shapeOf(m.Key.Segments[1]))
	require.Equal(t, shape{Name: "sub.unsigned", Kind: "int", Bits: 32, MaxScale: -1, Digits: 3, Allow: true, Digest: true, Redacted: true}, shapeOf(m.Key.Segments[3]))
	require.Equal(t, shape{Name: "sub.wrapped", Kind: "uuid", MaxScale: -1, Digits: 3, Digest: true, Redacted: true, Wrapper: true, Presence: true}, shapeOf(m.Key.Segments[4]))
	require.Equal(t, shape{Name: "decimal", Kind: "decimal message", MaxScale: -1, Digits: 3, Presence: true}, shapeOf(m.BizKey.Segments[0]))
	require.Equal(t, shape{Name: "text", Kind: "decimal text", MaxScale: 0, Digits: 3, Allow: true}, shapeOf(m.BizKey.Segments[1]))
	require.Equal(t, shape{Name: "epoch", Kind: "timestamp epoch", Bits: 64, Signed: true, Unit: "us", MaxScale: -1}, shapeOf(m.Fingerprint.Segments[0]))
	require.Equal(t, schema.Timestamp, m.OccurredAt.Kind)
	require.EqualValues(t, "unsigned", m.Key.Segments[3].Component.Leaf().Name())
	require.EqualValues(t, "sub", m.Key.Segments[3].Component.Path[0].Name())
}

// shape is a component without its descriptors.
type shape struct {
	Name, Kind, Unit                                   string
	Bits, MaxScale, Digits                             int
	Signed, Wrapper, Presence, Allow, Digest, Redacted bool
}

func shapeOf(s schema.Segment) shape {
	c := s.Component
	return shape{c.Name, c.Kind.String(), string(c.Unit), c.Bits, c.MaxScale, c.Digits, c.Signed, c.Wrapper, c.HasPresence, c.AllowMissing, c.Digest, c.Redacted}
}

// OPT-040: the prefix of a state, however its enum's name is split into words.
func TestStateTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ enum, value, text string }{
		{"OrderState", "ORDER_STATE_PAYING", "PAYING"},
		{"OrderState", "ORDERSTATE_PAYING", "PAYING"},
		{"OrderState", "ORDER_STATE_PAYING_BACK", "PAYING_BACK"},
		{"OrderState", "PAYING", "PAYING"},
		{"OrderState", "ORDER_STATE", "ORDER_STATE"},
		{"OrderState", "ORDER_STATES_PAYING", "ORDER_STATES_PAYING"},
		{"OrderState", "ORDER_STATE__X", "_X"},
		{"OrderState", "order_state_paying", "order_state_paying"},
		{"HTTPState", "HTTP_STATE_OK", "OK"},
		{"HTTPState", "H_T_T_P_STATE_OK", "OK"},
		{"V2State", "V2_STATE_OK", "OK"},
		{"State2", "STATE_2_OK", "OK"},
		{"State2", "STATE2_OK", "OK"},
		{"State2", "STATE_2", "STATE_2"},
		{"order_state", "ORDER_STATE_ON", "ON"},
		{"Color", "COLORFUL_ON", "COLORFUL_ON"},
	} {
		set, problems := build(t, gentest.Sources{"t.proto": fmt.Sprintf(`
			syntax = "proto2"; package t.v1; import "idem/v1/options.proto";
			enum %s { option (idem.v1.state_machine) = {}; %s = 0; }`, c.enum, c.value)})
		require.Empty(t, problems)
		require.Equal(t, c.text, set.Enum(protoreflect.FullName("t.v1." + c.enum)).Machine.States[0].Text, c.value)
	}
}

// STATE-004: the table of a transition is what the core's machine says, over random machines.
func TestVerdictsAgreeWithTheCore(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(1))
	for round := range 60 {
		states := 1 + r.Intn(9)
		name := func(i int) string {
			if i == 0 && round%2 == 0 {
				return ""
			}
			return fmt.Sprintf("N%d", i)
		}
		var edges []idem.Edge
		for range r.Intn(2*states + 1) {
			if a, b := r.Intn(states), r.Intn(states); a < b {
				edges = append(edges, idem.Edge{From: name(a), To: name(b)})
			}
		}
		if len(edges) == 0 {
			continue
		}
		var body strings.Builder
		body.WriteString("enum S { option (idem.v1.state_machine) = {")
		for _, e := range edges {
			fmt.Fprintf(&body, "transition: {from: %q to: %q} ", e.From, e.To)
		}
		body.WriteString("}; S_UNSPECIFIED = 0; ")
		for i := range states {
			fmt.Fprintf(&body, "S_N%d = %d; ", i, i+1)
		}
		body.WriteString("}")
		for i, e := range edges {
			fmt.Fprintf(&body, `message M%d { option (idem.v1.message) = {idempotency_key: "m%d:{id}" transition: {state_machine: "t.v1.S" from: %q to: %q}}; string id = 1; }`,
				i, i, e.From, e.To)
		}
		set, problems := build(t, file(body.String()))
		require.Empty(t, problems)
		machine, err := idem.MachineOf(edges)
		require.NoError(t, err)
		for i, e := range edges {
			want := make(map[string]string)
			for _, current := range append(texts(states), "", "UNSPECIFIED") {
				if v, err := machine.Verdict(current, e.From, e.To); err == nil {
					want[current] = v.String()
				}
			}
			got := make(map[string]string)
			v := set.Message(protoreflect.FullName(fmt.Sprintf("t.v1.M%d", i))).Transition.Verdicts()
			for verdict, currents := range map[string][]string{"APPLY": v.Apply, "DUPLICATE": v.Duplicate, "EARLY": v.Early, "CONFLICT": v.Conflict} {
				for _, current := range currents {
					require.NotContains(t, got, current)
					got[current] = verdict
				}
			}
			require.Equal(t, want, got, "%v in %v", e, edges)
		}
	}
}

func texts(states int) []string {
	all := make([]string, states)
	for i := range all {
		all[i] = fmt.Sprintf("N%d", i)
	}
	return all
}

// OPT-001: an option is found by its number, in whichever form a compiler gives it.
func TestFormsOfOptions(t *testing.T) {
	t.Parallel()
	sources := file(`message M { option (idem.v1.message) = {idempotency_key: "t.m:{id}"}; string id = 1 [(idem.v1.field).uuid = true]; }`)
	req := gentest.Request(t, "", sources)
	b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: req.GetProtoFile()})
	require.NoError(t, err)

	unknown := new(descriptorpb.FileDescriptorSet)
	require.NoError(t, proto.UnmarshalOptions{Resolver: new(protoregistry.Types)}.Unmarshal(b, unknown))

	descs, err := schema.Link(req.GetProtoFile())
	require.NoError(t, err)
	files := new(protoregistry.Files)
	for _, d := range descs {
		require.NoError(t, files.RegisterFile(d))
	}
	dynamic := new(descriptorpb.FileDescriptorSet)
	require.NoError(t, proto.UnmarshalOptions{Resolver: dynamicpb.NewTypes(files)}.Unmarshal(b, dynamic))

	twice := proto.Clone(unknown).(*descriptorpb.FileDescriptorSet)
	last := twice.GetFile()[len(twice.GetFile())-1].GetMessageType()[0].GetOptions().ProtoReflect()
	biz := protowire.AppendBytes(protowire.AppendTag(nil, 73157, protowire.BytesType), []byte("\x1a\x04{id}"))
	last.SetUnknown(append(last.GetUnknown(), biz...))

	for name, set := range map[string]*descriptorpb.FileDescriptorSet{"known": {File: req.GetProtoFile()}, "unknown": unknown, "dynamic": dynamic, "in two parts": twice} {
		built, problems := buildFiles(t, set.GetFile(), req.GetFileToGenerate())
		require.Empty(t, problems, name)
		m := built.Message("t.v1.M")
		require.NotNil(t, m, name)
		require.Equal(t, schema.UUID, m.Key.Segments[1].Component.Kind, name)
		require.Equal(t, name == "in two parts", m.BizKey != nil, name)
	}
}

// A message may refer to a machine in a file that it does not import, as long as that is given.
func TestTransitionAcrossFiles(t *testing.T) {
	t.Parallel()
	sources := file(`message M { option (idem.v1.message) = {idempotency_key: "t.m:{id}" transition: {state_machine: "u.v1.S" from: "" to: "A"}}; string id = 1; }`)
	sources["u.proto"] = `syntax = "proto3"; package u.v1; import "idem/v1/options.proto";
		enum S { option (idem.v1.state_machine) = {transition: {from: "" to: "A"}}; S_UNSPECIFIED = 0; S_A = 1; }
		enum Broken { option (idem.v1.state_machine) = {transition: {from: "A" to: "A"}}; BROKEN_UNSPECIFIED = 0; BROKEN_A = 1; }`
	req := gentest.Request(t, "", sources)
	set, problems := buildFiles(t, req.GetProtoFile(), []string{"t.proto"})
	require.Empty(t, problems, "what is not asked for and not referred to is not checked")
	require.Len(t, set.Files, 1)
	require.EqualValues(t, "u.v1.S", set.Message("t.v1.M").Transition.Enum.Desc.FullName())

	sources["t.proto"] = strings.Replace(sources["t.proto"], "u.v1.S", "u.v1.Broken", 1)
	req = gentest.Request(t, "", sources)
	_, problems = buildFiles(t, req.GetProtoFile(), []string{"t.proto"})
	require.Len(t, problems, 1)
	require.Equal(t, "OPT-042", problems[0].Rule)
	require.Equal(t, "u.proto", problems[0].File)
}

// OPT-050: in the order of file, line and column; without source information, at the beginning.
func TestPositions(t *testing.T) {
	t.Parallel()
	sources := gentest.Sources{"b.proto": `syntax = "proto3"; package t.v1; import "idem/v1/options.proto";
message M { option (idem.v1.message) = {idempotency_key: "t.m:{a}:{b}"}; int32 a = 1; int32 b = 2; }
`, "a.proto": `syntax = "proto3"; package t.v1; import "idem/v1/options.proto";


message N { option (idem.v1.message) = {}; }
`}
	_, problems := build(t, sources)
	require.Equal(t, []string{"a.proto:4:13", "b.proto:2:74", "b.proto:2:87"}, places(problems))

	req := gentest.Request(t, "", sources)
	for _, f := range req.GetProtoFile() {
		f.SourceCodeInfo = nil
	}
	_, problems = buildFiles(t, req.GetProtoFile(), req.GetFileToGenerate())
	require.Equal(t, []string{"a.proto:1:1", "b.proto:1:1", "b.proto:1:1"}, places(problems))
}

func places(problems []schema.Problem) []string {
	all := make([]string, len(problems))
	for i, p := range problems {
		all[i] = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	return all
}

func TestFilesOfASet(t *testing.T) {
	t.Parallel()
	req := gentest.Request(t, "", gentest.Sources{"z.proto": `syntax = "proto3"; package z.v1; import "idem/v1/options.proto"; message Z {}`}, "z.proto", "idem/v1/options.proto")
	set, problems := buildFiles(t, req.GetProtoFile(), req.GetFileToGenerate())
	require.Empty(t, problems)
	require.Len(t, set.Files, 2)
	require.True(t, set.Files[0].DeclaresOptions())
	require.False(t, set.Files[1].DeclaresOptions())
	require.False(t, set.Files[1].Annotated())
}
