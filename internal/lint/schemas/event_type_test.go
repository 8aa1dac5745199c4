package schemas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/gentest"
)

func TestEventTypeOfAnImportedMessageIsTaken(t *testing.T) {
	t.Parallel()
	declared := func(name, eventType, imports string) string {
		return `syntax = "proto3"; package t.v1; import "idem/v1/options.proto"; ` + imports + `
message ` + name + ` { option (idem.v1.message).idempotency_key = "` + eventType + `:v1:{id}"; string id = 1; }`
	}
	for _, test := range []struct {
		name, imported string
		want           []string
	}{
		{"the same", "t.paid", []string{`t.v1.Own has the event type "t.paid" of t.v1.Imported in imported.proto`}},
		{"another", "t.refunded", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range lintOnly(t, "IDEM_EVENT_TYPE_INVALID", gentest.Sources{
				"imported.proto": declared("Imported", test.imported, ""),
				"own.proto":      declared("Own", "t.paid", `import "imported.proto";`),
			}, "own.proto") {
				got = append(got, f.What)
			}
			require.Equal(t, test.want, got)
		})
	}
}
