package state

import (
	"database/sql"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
)

func TestLockOfAnObjectIsNamedByTheValueOfItsID(t *testing.T) {
	t.Parallel()
	text, number := "o-17", int64(17)
	pointer := &text
	id := uuid.MustParse("8e03978e-40d5-43dd-bc93-6894a57f9324")
	for want, ids := range map[string][]any{
		"o-17":      {text, &text, &pointer, []byte(text), sql.NullString{String: text, Valid: true}},
		"17":        {17, number, &number, int32(17)},
		id.String(): {id, &id, id.String()},
		"<nil>":     {sql.NullString{}},
	} {
		for _, id := range ids {
			assert.Equal(t, want, textOf(id), "%T", id)
		}
	}
}
