package rpc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// file is a schema with a message M of so many int32 fields, and a service.
func file(t *testing.T, path string, fields int) protoreflect.FileDescriptor {
	t.Helper()
	m := &descriptorpb.DescriptorProto{Name: proto.String("M")}
	for i := range fields {
		m.Field = append(m.Field, &descriptorpb.FieldDescriptorProto{
			Name: proto.String(string(rune('a' + i))), Number: proto.Int32(int32(i + 1)), Type: descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		})
	}
	d, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String(path), Package: proto.String("idem.rpctest"), Syntax: proto.String("proto3"), MessageType: []*descriptorpb.DescriptorProto{m},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("S"), Method: []*descriptorpb.MethodDescriptorProto{
			{Name: proto.String("Pay"), InputType: proto.String(".idem.rpctest.M"), OutputType: proto.String(".idem.rpctest.M")},
			{Name: proto.String("Get"), InputType: proto.String(".idem.rpctest.M"), OutputType: proto.String(".idem.rpctest.M"),
				Options: &descriptorpb.MethodOptions{IdempotencyLevel: descriptorpb.MethodOptions_NO_SIDE_EFFECTS.Enum()}},
		}}},
	}, protoregistry.GlobalFiles)
	require.NoError(t, err)
	return d
}

func message(t *testing.T, f protoreflect.FileDescriptor, wire []byte) proto.Message {
	t.Helper()
	m := dynamicpb.NewMessage(f.Messages().Get(0))
	require.NoError(t, proto.Unmarshal(wire, m))
	return m
}

func fingerprint(t *testing.T, method string, m any) string {
	t.Helper()
	f, err := fingerprintOf(method, m)
	require.NoError(t, err)
	require.True(t, idem.IsFingerprint(f), f)
	return f
}

func TestFingerprintsTellContentsApartWithinOneSchemaOnly(t *testing.T) {
	t.Parallel()
	before, after := file(t, "m.proto", 1), file(t, "m.proto", 2)
	wire := []byte{2 << 3, 7, 1 << 3, 5} // b = 7, a = 5: the schema before has no b
	old, again, other := fingerprint(t, "/S/Pay", message(t, before, wire)), fingerprint(t, "/S/Pay", message(t, before, wire)), fingerprint(t, "/S/Pay", message(t, before, []byte{1 << 3, 6}))
	assert.Equal(t, old, again)
	assert.True(t, idem.FingerprintsDiffer(old, other))
	assert.True(t, idem.FingerprintsDiffer(old, fingerprint(t, "/S/Refund", message(t, before, wire))))
	fresh := fingerprint(t, "/S/Pay", message(t, after, wire))
	assert.NotEqual(t, old, fresh)
	assert.False(t, idem.FingerprintsDiffer(old, fresh), "a release in progress rejects nothing")
	_, err := fingerprintOf("/S/Pay", "text")
	require.ErrorContains(t, err, "no protobuf message")
}

func TestMethodsThatAskForNoEffect(t *testing.T) { // not parallel: it registers a file
	require.NoError(t, protoregistry.GlobalFiles.RegisterFile(file(t, "idem/rpctest/s.proto", 1)))
	for method, safe := range map[string]bool{
		"/idem.rpctest.S/Get": true, "/idem.rpctest.S/Pay": false, "/idem.rpctest.S/None": false, "/grpc.health.v1.Health/Check": true, "/grpcx.S/M": false, "": false,
	} {
		assert.Equal(t, safe, IsSafe(method), method)
	}
}

func TestResultThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	m, s := again(resultOf(wrapperspb.String("x"), nil))
	require.Nil(t, s)
	assert.Equal(t, "x", m.(*wrapperspb.StringValue).GetValue())
	for name, result := range map[string][]byte{
		"nothing": nil, "unknown form": {9}, "no Any": {formMessage, 0xff}, "unknown type": append([]byte{formMessage}, 10, 3, 'a', '/', 'b'),
		"no status": {formStatus, 0xff}, "status OK": {formStatus},
	} {
		m, s := again(result)
		assert.Nil(t, m, name)
		assert.EqualValues(t, codeInternal, s.GetCode(), name)
	}
}
