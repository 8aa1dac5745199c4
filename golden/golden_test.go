package golden_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// keyed is what every annotated message has.
type keyed interface {
	proto.Message
	IdemEventType() string
	IdemKey() (string, error)
	AppendIdemKey([]byte) ([]byte, error)
	IdemHeaders(idem.Context) (idem.Headers, error)
}

// keyOf is the key, or the code and the field of its error; and it is the same when appended, and from a
// message that went over the wire.
func keyOf(t *testing.T, m keyed) string {
	t.Helper()
	key, err := m.IdemKey()
	appended, appendErr := m.AppendIdemKey([]byte("before "))
	require.Equal(t, "before "+key, string(appended))
	require.Equal(t, err, appendErr)

	b, marshalErr := proto.MarshalOptions{AllowPartial: true}.Marshal(m)
	require.NoError(t, marshalErr)
	again := m.ProtoReflect().New().Interface().(keyed)
	require.NoError(t, proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(b, again))
	sent, sentErr := again.IdemKey()
	require.Equal(t, key, sent)
	require.Equal(t, err, sentErr)
	if err != nil {
		require.Empty(t, key)
		return problemOf(err)
	}
	return strings.TrimPrefix(key, m.IdemEventType()+":")
}

func problemOf(err error) string {
	var e *idem.Error
	if err, ok := err.(*idem.Error); ok {
		e = err
	}
	return fmt.Sprintf("%s %s", e.Code, e.Field)
}

type keyCase struct {
	name    string
	message keyed
	want    string
}

func checkKeys(t *testing.T, cases []keyCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, keyOf(t, c.message))
		})
	}
}
