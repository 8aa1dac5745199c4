package payload_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/idem-spec/idem/internal/operate/payload"
)

const proto = `syntax = "proto3";
package t.v1;
import "google/protobuf/any.proto";
import "idem/v1/options.proto";
message Paid {
  option (idem.v1.message) = {idempotency_key: "paid:v1:{id}"};
  string id = 1;
  string card = 2 [debug_redact = true];
  Customer customer = 3;
  repeated Customer copies = 4;
  map<string, Customer> by_name = 5;
  google.protobuf.Any more = 6;
}
message Customer {
  string name = 1;
  string email = 2 [debug_redact = true];
}
`

func read(t *testing.T) *payload.Schema {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.proto"), []byte(proto), 0o600))
	s, err := payload.Read(t.Context(), dir)
	require.NoError(t, err)
	return s
}

const whole = `{"id": "p-1", "card": "hunter2", "customer": {"name": "Ann", "email": "hunter2"},
	"copies": [{"name": "Bo"}, {"email": "hunter2"}], "byName": {"x": {"email": "hunter2"}},
	"more": {"@type": "type.googleapis.com/t.v1.Customer", "name": "Cy", "email": "hunter2"}}`

func TestWhatIsMarkedIsHiddenWhereverItIs(t *testing.T) {
	t.Parallel()
	s := read(t)
	binary, err := s.Encode("paid", []byte(whole), nil)
	require.NoError(t, err)
	framed := append([]byte{0, 0, 0, 0, 7, 0}, binary...)
	for name, bytes := range map[string][]byte{"protobuf": binary, "json": []byte(whole), "confluent": framed} {
		t.Run(name, func(t *testing.T) {
			shown, err := s.Show("paid", bytes)
			require.NoError(t, err)
			assert.Equal(t, "t.v1.Paid", shown.Message)
			assert.NotContains(t, string(shown.JSON), "hunter2")
			assert.JSONEq(t, `{"id": "p-1", "customer": {"name": "Ann"}, "copies": [{"name": "Bo"}, {}], "by_name": {"x": {}},
				"more": {"@type": "type.googleapis.com/t.v1.Customer", "name": "Cy"}}`, string(shown.JSON))
			assert.Equal(t, []string{"by_name[].email", "card", "copies[1].email", "customer.email", "more.email"}, shown.Hidden)
		})
	}
}

func TestWhatCannotBeLookedIntoIsHidden(t *testing.T) {
	t.Parallel()
	any := protowire.AppendTag(nil, 1, protowire.BytesType)
	any = protowire.AppendString(any, "type.googleapis.com/other.Secret")
	any = protowire.AppendTag(any, 2, protowire.BytesType)
	any = protowire.AppendString(any, "hunter2")
	bytes := protowire.AppendTag(nil, 6, protowire.BytesType)
	bytes = protowire.AppendBytes(bytes, any)
	bytes = protowire.AppendTag(bytes, 99, protowire.BytesType)
	bytes = protowire.AppendString(bytes, "hunter2")
	shown, err := read(t).Show("paid", bytes)
	require.NoError(t, err)
	assert.NotContains(t, string(shown.JSON), "hunter2")
	assert.Equal(t, []string{"more.value"}, shown.Hidden)
}

func TestARepairKeepsTheFormat(t *testing.T) {
	t.Parallel()
	s := read(t)
	binary, err := s.Encode("paid", []byte(`{"id": "p-2"}`), []byte{10, 1, 'x'})
	require.NoError(t, err)
	assert.Equal(t, []byte("\x0a\x03p-2"), binary)
	framed, err := s.Encode("paid", []byte(`{"id": "p-2"}`), append([]byte{0, 0, 0, 0, 7, 0}, 10, 1, 'x'))
	require.NoError(t, err)
	assert.Equal(t, append([]byte{0, 0, 0, 0, 7, 0}, binary...), framed)
	text, err := s.Encode("paid", []byte(`{"id": "p-2"}`), []byte(" {}"))
	require.NoError(t, err)
	assert.Equal(t, `{"id": "p-2"}`, string(text))
}

// A first field of 123 bytes begins with a line break and a {.
func TestAMessageThatBeginsAsJSONIsTold(t *testing.T) {
	t.Parallel()
	s := read(t)
	binary, err := s.Encode("paid", []byte(`{"id": "`+strings.Repeat("x", '{')+`"}`), nil)
	require.NoError(t, err)
	require.Equal(t, "\n{x", string(binary[:3]))
	shown, err := s.Show("paid", binary)
	require.NoError(t, err)
	assert.Contains(t, string(shown.JSON), "xxx")
	for old, want := range map[string]string{string(binary): "\x0a\x03p-2", "\n{\"id\": \"x\"}": `{"id": "p-2"}`, "\n{\"id\": ": `{"id": "p-2"}`} {
		repaired, err := s.Encode("paid", []byte(`{"id": "p-2"}`), []byte(old))
		require.NoError(t, err)
		assert.Equal(t, want, string(repaired), old)
	}
}

func TestARepairKeepsWhatIsHidden(t *testing.T) {
	t.Parallel()
	s := read(t)
	old, err := s.Encode("paid", []byte(whole), nil)
	require.NoError(t, err)
	inElements := []string{"by_name[].email", "copies[1].email", "more.email"}
	for name, c := range map[string]struct {
		old            []byte
		repaired, want string
		lost           []string
	}{
		"all is there":                {old, whole, whole, nil},
		"as it is shown":              {old, `{"id": "p-1", "customer": {"name": "Ann"}}`, `{"id": "p-1", "card": "hunter2", "customer": {"name": "Ann", "email": "hunter2"}}`, inElements},
		"it is mended, too":           {old, `{"id": "p-1", "card": "4000", "customer": {"email": "b@x"}}`, `{"id": "p-1", "card": "4000", "customer": {"email": "b@x"}}`, inElements},
		"the message is gone":         {old, `{"id": "p-1"}`, `{"id": "p-1", "card": "hunter2"}`, append(slices.Clone(inElements), "customer.email")},
		"in JSON":                     {[]byte(whole), `{"id": "p-1", "customer": {}}`, `{"id": "p-1", "card": "hunter2", "customer": {"email": "hunter2"}}`, inElements},
		"nobody can read what it was": {[]byte("no message"), `{"id": "p-1"}`, `{"id": "p-1"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			repaired, err := s.Encode("paid", []byte(c.repaired), c.old)
			require.NoError(t, err)
			want, err := s.Encode("paid", []byte(c.want), nil)
			require.NoError(t, err)
			if c.old[0] == '{' {
				assert.JSONEq(t, c.want, string(repaired))
			} else {
				assert.Equal(t, want, repaired)
			}
			lost, err := s.Lost("paid", c.old, repaired)
			require.NoError(t, err)
			assert.ElementsMatch(t, c.lost, lost)
		})
	}
}

func TestARepairOfAnotherKeyIsSeen(t *testing.T) {
	t.Parallel()
	s := read(t)
	for key, want := range map[string]string{"paid:v1:p-1": "", "paid:v1:p-2": "paid:v1:p-1", "": ""} {
		own, other, err := s.OtherKey("paid", key, []byte(whole))
		require.NoError(t, err)
		assert.Equal(t, want != "", other, key)
		if other {
			assert.Equal(t, want, own)
		}
	}
	_, _, err := s.OtherKey("paid", "k", []byte("hunter2"))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
}

func TestWhatIsNoMessageIsRefusedWithoutItsValue(t *testing.T) {
	t.Parallel()
	s := read(t)
	_, err := s.Show("unpaid", nil)
	require.ErrorContains(t, err, `no message with the event type "unpaid"`)
	for _, bad := range [][]byte{[]byte("hunter2"), []byte(`{"id": {"hunter2": 1}}`), {0, 1}} {
		_, err := s.Show("paid", bad)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "hunter2")
	}
	_, err = s.Encode("paid", []byte(`{"idd": "x"}`), nil)
	require.ErrorContains(t, err, "idd")
	_, err = payload.Read(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.Error(t, err)
}

// An entry of by_name whose key is a string, and then a number, makes the decoder of dynamic messages panic.
func TestAPayloadThatNoEncoderWritesIsRefused(t *testing.T) {
	t.Parallel()
	s := read(t)
	entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "x")
	entry = protowire.AppendVarint(protowire.AppendTag(entry, 1, protowire.VarintType), 7)
	paid := protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), entry)
	_, err := s.Show("paid", paid)
	require.ErrorContains(t, err, "the key of a map's entry is of another type")

	inner := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "type.googleapis.com/t.v1.Paid")
	inner = protowire.AppendBytes(protowire.AppendTag(inner, 2, protowire.BytesType), paid)
	shown, err := s.Show("paid", protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), inner))
	require.NoError(t, err)
	assert.Equal(t, []string{"more.value"}, shown.Hidden, "what nobody can look into")
}

func TestARepairThatSaysTheSameIsSeen(t *testing.T) {
	t.Parallel()
	s := read(t)
	binary, err := s.Encode("paid", []byte(`{"id": "p-1", "card": "c"}`), nil)
	require.NoError(t, err)
	for _, c := range []struct {
		event, other string
		want         bool
	}{
		{"paid", `{ "card": "c", "id": "p-1" }`, true},
		{"paid", `{"id": "p-2", "card": "c"}`, false},
		{"paid", `{"id": "p-1"}`, false},
		{"paid", `{`, false},
		{"unknown", `{"id": "p-1", "card": "c"}`, false},
	} {
		assert.Equal(t, c.want, s.Same(c.event, binary, []byte(c.other)), c.other)
	}
}
