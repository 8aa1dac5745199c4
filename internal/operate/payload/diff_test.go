package payload_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

func TestTwoPayloadsAreComparedByField(t *testing.T) {
	t.Parallel()
	s := read(t)
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"the same":            {whole, whole, nil},
		"a value":             {`{"id": "p-1"}`, `{"id": "p-2"}`, []string{`id "p-1" "p-2"`}},
		"one that is new":     {`{"id": "p-1"}`, `{"id": "p-1", "customer": {"name": "<Ann>"}}`, []string{`customer  {"name":"<Ann>"}`}},
		"one that is gone":    {`{"id": "p-1"}`, `{}`, []string{`id "p-1" `}},
		"within a message":    {`{"customer": {"name": "Ann"}}`, `{"customer": {"name": "Bo"}}`, []string{`customer.name "Ann" "Bo"`}},
		"within a list":       {`{"copies": [{"name": "Ann"}, {}]}`, `{"copies": [{"name": "Bo"}]}`, []string{`copies[0].name "Ann" "Bo"`, `copies[1] {} `}},
		"within a map":        {`{"byName": {"x": {"name": "Ann"}}}`, `{"byName": {"x": {}}}`, []string{`by_name.x.name "Ann" `}},
		"a secret":            {`{"card": "hunter2"}`, `{"card": "hunter3"}`, []string{"card is hidden"}},
		"a secret that stays": {`{"id": "p-1", "card": "hunter2"}`, `{"id": "p-2", "card": "hunter2"}`, []string{`id "p-1" "p-2"`}},
		"a secret that is gone, in each kind of place": {whole, `{"id": "p-1", "customer": {"name": "Ann"}, "copies": [{"name": "Bo"}, {}], "byName": {"x": {}},
			"more": {"@type": "type.googleapis.com/t.v1.Customer", "name": "Cy"}}`,
			[]string{"by_name[].email is hidden", "card is hidden", "copies[1].email is hidden", "customer.email is hidden", "more.email is hidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, err := s.Encode("paid", []byte(c.before), nil)
			require.NoError(t, err)
			changes, err := s.Diff("paid", before, []byte(c.after))
			require.NoError(t, err)
			var got []string
			for _, change := range changes {
				if change.Hidden {
					assert.Empty(t, string(change.Before)+string(change.After))
					got = append(got, change.Path+" is hidden")
					continue
				}
				got = append(got, fmt.Sprintf("%s %s %s", change.Path, change.Before, change.After))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestWhatTheSchemaDoesNotKnowIsComparedUnseen(t *testing.T) {
	t.Parallel()
	s := read(t)
	known := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "p-1")
	unknown := protowire.AppendString(protowire.AppendTag(known, 99, protowire.BytesType), "hunter2")
	changes, err := s.Diff("paid", unknown, known)
	require.NoError(t, err)
	require.Len(t, changes, 1)
	assert.True(t, changes[0].Hidden)
	assert.Equal(t, "fields that the schema does not know", changes[0].Path)
	changes, err = s.Diff("paid", unknown, unknown)
	require.NoError(t, err)
	assert.Empty(t, changes)
	_, err = s.Diff("paid", []byte("hunter2"), known)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
}
