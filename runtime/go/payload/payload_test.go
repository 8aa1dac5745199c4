package payload_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/payload"
)

// order is a message as generated code has it.
type order struct {
	*wrapperspb.StringValue
	bizKey string
	err    error
}

func (o order) IdemHeaders(c idem.Context) (idem.Headers, error) {
	if o.err != nil {
		return nil, o.err
	}
	return idem.AppendHeaders(nil, &idem.Outgoing{
		EventType: "orders.created", IdempotencyKey: []byte("order:v1:" + o.GetValue()), BizKey: []byte(o.bizKey),
	}, c)
}

func TestMessage(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	m, err := payload.Message("orders", order{wrapperspb.String("17"), "customer-4", nil}, payload.Options{Traceparent: "00-1", Tracestate: "a=b"})
	require.NoError(t, err)
	var e idem.Envelope
	require.NoError(t, e.Parse(idem.Kafka, m.Headers))
	require.Equal(t, []string{"order:v1:17", "orders.created", "customer-4", "orders", "00-1", "a=b"},
		[]string{e.IdempotencyKey, e.EventType, e.BizKey, e.Topic, e.Traceparent, e.Tracestate})
	id, err := uuid.Parse(e.EventID)
	require.NoError(t, err)
	require.Equal(t, uuid.Version(7), id.Version())
	at, err := time.Parse(time.RFC3339, e.ProducedAt)
	require.NoError(t, err)
	require.False(t, at.Before(before))
	require.Less(t, time.Since(at), time.Minute)
	require.Equal(t, "orders", m.Topic)
	require.Equal(t, "customer-4", string(m.Key))
	require.Equal(t, "\x0a\x0217", string(m.Value)) // field 1, of 2 bytes

	m, err = payload.Message("orders", order{wrapperspb.String(""), "", nil}, payload.Options{EventID: "e-1", ProducedAt: time.Unix(1735704000, 0)})
	require.NoError(t, err)
	require.Nil(t, m.Key, "no biz key, no key")
	require.NotNil(t, m.Value, "a message without fields is no null")
	require.Empty(t, m.Value)
	require.NoError(t, e.Parse(idem.Kafka, m.Headers))
	require.Equal(t, []string{"e-1", "2025-01-01T04:00:00.000Z"}, []string{e.EventID, e.ProducedAt})

	cause := errors.New("KEY_COMPONENT_MISSING")
	_, err = payload.Message("orders", order{wrapperspb.String(""), "", cause}, payload.Options{})
	require.ErrorIs(t, err, cause)
	_, err = payload.Message("or ders", order{wrapperspb.String(""), "", nil}, payload.Options{})
	require.ErrorContains(t, err, "or ders")
	_, err = payload.Message("", order{wrapperspb.String(""), "", nil}, payload.Options{})
	require.ErrorContains(t, err, `make a google.protobuf.StringValue for topic "": topic has no name`)
	_, err = payload.Message("orders", order{wrapperspb.String("\xff"), "", nil}, payload.Options{})
	require.ErrorContains(t, err, "UTF-8")
	_, err = payload.Message("orders", order{wrapperspb.String(""), "", nil}, payload.Options{Format: 9})
	require.ErrorContains(t, err, "format_9")
}

// printed is a message with all three texts, of which some fail.
type printed struct {
	order
	key, biz, print error
}

func (p printed) IdemKey() (string, error)         { return "k", p.key }
func (p printed) IdemBizKey() (string, error)      { return "b", p.biz }
func (p printed) IdemFingerprint() (string, error) { return "f", p.print }

func TestTheErrorSaysOfWhichTextItIs(t *testing.T) {
	t.Parallel()
	cause := errors.New("idem: currency: KEY_COMPONENT_MISSING")
	for _, c := range []struct {
		key, biz, print error
		want            string
	}{
		{cause, cause, cause, `for topic "orders": idem: currency`},
		{nil, cause, cause, `for topic "orders": the biz key: idem: currency`},
		{nil, nil, cause, `for topic "orders": the fingerprint of the content: idem: currency`},
		{nil, nil, nil, `for topic "orders": idem: currency`},
	} {
		_, err := payload.Message("orders", printed{order{wrapperspb.String(""), "", cause}, c.key, c.biz, c.print}, payload.Options{})
		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, c.want)
	}
}

func TestWhatIsMadeCanBeRead(t *testing.T) {
	t.Parallel()
	for _, f := range []payload.Format{payload.Protobuf, payload.JSON, payload.Confluent} {
		m, err := payload.Message("orders", order{wrapperspb.String("ä"), "b", nil}, payload.Options{Format: f, SchemaID: 1<<31 - 1})
		require.NoError(t, err)
		read := wrapperspb.String("earlier")
		require.NoError(t, payload.Decode(f, m.Value, read))
		require.Equal(t, "ä", read.GetValue(), f)
	}
}

// The bytes of Confluent's documentation: indexes are zigzag varints behind their number, and [0] is one 0.
func TestConfluentBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		payload string
		m       proto.Message
		path    []int
	}{
		{"a later one", "\x00\x00\x00\x00\x2a\x02\x0a\x08\x05", wrapperspb.UInt32(5), []int{5}},
		{"the first one", "\x00\x00\x00\x00\x2a\x00\x08\x05", durationpb.New(5 * time.Second), []int{0}},
		{"the first one at length", "\x00\x00\x00\x00\x2a\x02\x00\x08\x05", durationpb.New(5 * time.Second), []int{0}},
		{"a nested one", "\x00\x00\x00\x00\x2a\x04\x04\x00\x08\x05", &descriptorpb.DescriptorProto_ExtensionRange{Start: proto.Int32(5)}, []int{2, 0}},
	} {
		f, err := payload.ReadFrame([]byte(c.payload))
		require.NoError(t, err, c.name)
		require.Equal(t, int32(42), f.SchemaID)
		require.Equal(t, c.path, f.Path)
		read := c.m.ProtoReflect().New().Interface()
		require.NoError(t, payload.Decode(payload.Confluent, []byte(c.payload), read), c.name)
		require.True(t, proto.Equal(c.m, read), c.name)
	}
}

func TestWhatCannotBeReadIsMalformed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, payload string
		format        payload.Format
		want          string
	}{
		{"poison", "\xff\xff\xff", payload.Protobuf, "3 bytes are no google.protobuf.StringValue"},
		{"ill-formed text", "\x0a\x01\xff", payload.Protobuf, "UTF-8"},
		{"no JSON", "4111 1111", payload.JSON, "9 bytes are no JSON of google.protobuf.StringValue: line 1:1"},
		{"JSON of another type", `{"secret": 4111}`, payload.JSON, "no JSON"},
		{"null as JSON", "", payload.JSON, "0 bytes"},
		{"raw protobuf as Confluent", "\x0a\x0217", payload.Confluent, "begins with byte 0x0a"},
		{"nothing", "", payload.Confluent, "ends within"},
		{"a head alone", "\x00\x00\x00\x00\x01", payload.Confluent, "ends within"},
		{"a place that ends early", "\x00\x00\x00\x00\x01\x04\x00", payload.Confluent, "ends within"},
		{"a place of many steps", "\x00\x00\x00\x00\x01\xfe\xff\xff\xff\x0f", payload.Confluent, "byte 5 on there is not how many steps, up to 64,"},
		{"a place of -1 steps", "\x00\x00\x00\x00\x01\x01", payload.Confluent, "byte 5 on there is not how many steps"},
		{"a step of -1", "\x00\x00\x00\x00\x01\x02\x01", payload.Confluent, "step 0 of the place of the message in its file is no index"},
		{"a varint without an end", "\x00\x00\x00\x00\x01" + strings.Repeat("\xff", 11), payload.Confluent, "byte 5 on there is not how many steps"},
		{"another message of the file", "\x00\x00\x00\x00\x01\x00", payload.Confluent, "message [0] of the file of schema 1, and google.protobuf.StringValue is [7]"},
		{"poison in a frame", "\x00\x00\x00\x00\x01\x02\x0e\xff", payload.Confluent, "1 bytes are no google.protobuf.StringValue"},
		{"a format that is none", "", 7, "format_7"},
	} {
		err := payload.Decode(c.format, []byte(c.payload), new(wrapperspb.StringValue))
		require.ErrorContains(t, err, c.want, c.name)
		require.Equal(t, idem.OutcomeMalformed, idem.ResultOf(err).Outcome, c.name)
		require.ErrorContains(t, err, "PAYLOAD_INVALID", c.name)
		require.NotContains(t, err.Error(), "4111", c.name)
	}
	// Fields that the schema does not know are ignored, and a null is no field.
	read := new(descriptorpb.FileOptions)
	require.NoError(t, payload.Decode(payload.JSON, []byte(`{"javaPackage": "a", "later": {"deep": [1]}}`), read))
	require.Equal(t, "a", read.GetJavaPackage())
	require.NoError(t, payload.Decode(payload.Protobuf, nil, read))
	require.True(t, proto.Equal(new(descriptorpb.FileOptions), read))
}

// FuzzDecode: no bytes make a decoder panic or read a message that would not be written as one, and no error tells
// what is in the payload.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "\x00", "{}", `{"a": [1, null, {"b": "c"}]}`, "\x00\x00\x00\x00\x01\x00\x0a\x02\x08\x01", "\x00\x00\x00\x00\x01\x04\x02\x00"} {
		for format := range uint8(3) {
			f.Add(format, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, bytes []byte) {
		m := new(structpb.Struct)
		if err := payload.Decode(payload.Format(format), bytes, m); err != nil {
			require.Equal(t, idem.OutcomeMalformed, idem.ResultOf(err).Outcome)
			return
		}
		if format != uint8(payload.Confluent) {
			return
		}
		frame, err := payload.ReadFrame(bytes)
		require.NoError(t, err)
		require.Equal(t, []int{0}, frame.Path)
		raw := new(structpb.Struct)
		require.NoError(t, proto.Unmarshal(frame.Message, raw))
		require.Equal(t, protojson.Format(raw), protojson.Format(m))
	})
}
