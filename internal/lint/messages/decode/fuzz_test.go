package decode

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// samples are payloads in JSON with something of everything.
var samples = []string{
	`{}`,
	`{"text":"a:b","inner":{"id":"x","deep":{"name":"n"}},"at":"2025-01-01T04:00:00.123456789Z","number":"-5","flag":true,"kind":"KIND_ONE"}`,
	`{"number":100.0,"unsigned":7,"zigzag":-3,"bytes":"AAE=","wrapped":"w","wrappedNumber":"12","wrapped_bytes":"_-8"}`,
	`{"amount":"100.00","price":{"value":"1e3"},"money":{"currencyCode":"USD","units":"10","nanos":500000000},"date":{"year":2025,"month":1,"day":2}}`,
	`{"took":"1.5s","uuid":"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6","timeText":"2025-01-01T04:00:00+02:00","epoch":"1735704000123"}`,
	`{"secret":"s","chosen":{"id":"c"},"fixed":-1,"numbers":[1,2,-3],"texts":["a\u00fc\ud83d\ude00"],"kinds":["KIND_ONE",7,"KIND_NEW"]}`,
	`{"choice":"","inners":[{"id":"1"},{}],"byName":{"a":{"id":"z"},"b":{}},"byNumber":{"1":"x"},"real":"NaN","small":1.5}`,
	`{"anyObject":{"a":[1,null,{"b":"c"}]},"far":"18446744073709551615","reals":[1e3,-0.5],"unknown":{"x":[]},"text":null}`,
	`{"any":{"@type":"type.googleapis.com/all.v1.All.Deep","name":"q"}}`,
	`{"text":"é","kind":9007199254740993,"number":9007199254740993,"other":3}`,
}

func FuzzBinary(f *testing.F) {
	p := planOf(f, "all.v1.All")
	for _, s := range samples {
		m := dynamicpb.NewMessage(p.Message.Desc)
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true, Resolver: p.types()}).Unmarshal([]byte(s), m); err == nil {
			b, err := proto.Marshal(m)
			require.NoError(f, err)
			f.Add(b)
		}
	}
	f.Add([]byte{0xb2, 0x01, 0x02, 0x0a, 0x00, 0xba, 0x01, 0x01, 'x', 0xb2, 0x01, 0x00}) // a oneof, forth and back
	f.Add([]byte{0x13, 0x14})                                                            // a group where a message is
	f.Fuzz(func(t *testing.T, payload []byte) {
		var d Decoder
		m := dynamicpb.NewMessage(p.Message.Desc)
		known, want := unmarshal(payload, m)
		err := d.Binary(p, payload)
		if !known {
			return
		}
		require.Equal(t, want == nil, err == nil, "walked: %v, protobuf: %v", err, want)
		if err == nil {
			sameTexts(t, &d, p, m)
		} else {
			require.LessOrEqual(t, err.(*Error).Offset, len(payload))
		}
	})
}

// unmarshal is proto.Unmarshal; not known is where that panics, for a key of a map of another wire type.
func unmarshal(payload []byte, m proto.Message) (known bool, err error) {
	defer func() { known = recover() == nil }()
	return true, proto.Unmarshal(payload, m)
}

func FuzzJSON(f *testing.F) {
	p := planOf(f, "all.v1.All")
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var d Decoder
		m := dynamicpb.NewMessage(p.Message.Desc)
		want := protojson.UnmarshalOptions{DiscardUnknown: true, Resolver: p.types()}.Unmarshal(payload, m)
		err := d.JSON(p, payload)
		for _, o := range d.Odd {
			if o.What == NumberText {
				return // protojson takes none, and that is what the rule says
			}
		}
		require.Equal(t, want == nil, err == nil, "walked: %v, protojson: %v", err, want)
		if err == nil {
			sameTexts(t, &d, p, m)
		}
	})
}
