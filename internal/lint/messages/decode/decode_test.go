package decode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/schema"
)

func TestUnreadablePayloadSaysAtWhichByte(t *testing.T) {
	t.Parallel()
	p := planOf(t, "all.v1.All")
	var d Decoder
	for _, c := range []struct{ name, payload, want string }{
		{"a tag that is cut off", "\x0a\x01a\x80", "at byte 3: a field's tag is cut off or too long"},
		{"a field of number 0", "\x0a\x01a\x00", "at byte 3: there is no field number 0"},
		{"a length beyond the end", "\x0a\x05a", "at byte 1: all.v1.All.text has 5 bytes, and 1 are there"},
		{"a length in a message beyond it", "\x12\x03\x0a\x05a", "at byte 3: all.v1.All.Inner.id has 5 bytes, and 1 are there"},
		{"a string that is no UTF-8", "\x0a\x02a\xff", "at byte 2: the string all.v1.All.text is ill-formed UTF-8"},
		{"a varint without an end", "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "at byte 1: the value of all.v1.All.number is cut off or too long"},
		{"a group without an end", "\xfb\x3e\x08", "at byte 0: the value of field 1007 is cut off or of no wire type"},
	} {
		require.EqualError(t, d.Binary(p, []byte(c.payload)), c.want, c.name)
	}
	for _, c := range []struct{ name, payload, want string }{
		{"no JSON", `{"text":"a",,}`, "at byte 12: it is no JSON of the message"},
		{"another type", `{"text":"ü","number":true}`, "at byte 22: it is no JSON of the message"},
		{"in the second line", "{\"text\":\"a\",\n  \"number\":[]}", "at byte 24: it is no JSON of the message"},
		{"a field twice", `{"text":"a","text":"b"}`, `at byte 12: the field "text" is there twice`},
		{"a field by two names", `{"byName":{},"by_name":{}}`, `at byte 13: the field "by_name" is there twice`},
		{"a field twice in another", `{"inner":{"id":"a","id":"b"}}`, `at byte 19: the field "id" is there twice`},
		{"a key of a map twice", `{"byName":{"secret":{},"secret":{}}}`, "at byte 23: a key of a map is there twice"},
		{"two fields of a oneof", `{"choice":"a","other":1}`, "at byte 14: two fields of the oneof all.v1.All.one are there"},
		{"half of it", `{"text":"a"`, "at byte 11: the JSON is cut off"},
		{"nothing", ``, "at byte 0: the JSON is cut off"},
	} {
		require.EqualError(t, d.JSON(p, []byte(c.payload)), c.want, c.name)
	}
}

func TestOdditiesAreFoundBelowMessagesListsAndMaps(t *testing.T) {
	t.Parallel()
	p := planOf(t, "all.v1.All")
	var d Decoder
	require.NoError(t, d.JSON(p, []byte(`{"inners":[{"nothing":1}],"byName":{"a":{"around":{"amount":"1.0","kinds":["KIND_NEW"]}}},"secret":"s","far":9007199254740993}`)))
	var found []string
	for _, o := range d.Odd {
		name := o.Name
		if o.Field != nil {
			name = string(o.Field.Name()) + " " + o.Name + o.Value
		}
		found = append(found, name)
	}
	require.Equal(t, []string{"nothing", "amount 1.0", "kinds KIND_NEW", "far 9007199254740993"}, found)
	require.Equal(t, schema.DecimalText, d.Odd[1].Kind)
	require.Equal(t, "1", d.Odd[1].Canonical)
}

func TestOdditiesOfOnePayloadAreBounded(t *testing.T) {
	t.Parallel()
	p := planOf(t, "all.v1.All")
	var d Decoder
	payload := []byte{}
	for range 1000 {
		payload = append(payload, 0xf8, 0x3e, 1)
	}
	require.NoError(t, d.Binary(p, payload))
	require.Len(t, d.Odd, maxOdd)
}

func TestReadingManyPayloadsTakesNoMemory(t *testing.T) {
	p := planOf(t, "all.v1.All")
	var d Decoder
	payload := []byte("\x0a\x03a:b\x12\x03\x0a\x01x\x1a\x05\x08\x80\x01\x10\x05\x6a\x0412.5")
	json := []byte(`{"text":"a:b","inner":{"id":"x"},"at":"2025-01-01T04:00:00.5Z","amount":"12.5"}`)
	var key []byte
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if d.Binary(p, payload) != nil || d.JSON(p, json) != nil {
			t.Fatal("unreadable")
		}
		key, _ = d.AppendKey(key[:0], p.Key)
	}))
}
