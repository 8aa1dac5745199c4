package schemas_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/config"
	"github.com/idem-spec/idem/internal/lint/schemas"
	"github.com/idem-spec/idem/internal/schema"
)

// given is a schema and what one rule finds in it.
type given struct {
	name, rule string
	// proto is what follows the head of a file of package t.v1 that has all imports.
	proto string
	facts config.Facts
	// want is a part of what each finding says, in their order.
	want []string
}

func (g given) run(t *testing.T) {
	t.Helper()
	found := findings(t, g.rule, gentest.Sources{"t.proto": head + g.proto}, g.facts)
	var got []string
	for i, f := range found {
		got = append(got, f.What)
		require.NotEmpty(t, f.Mend)
		if i < len(g.want) {
			require.Contains(t, f.What, g.want[i])
		}
	}
	require.Len(t, found, len(g.want), "%q", got)
}

func runAll(t *testing.T, all []given) {
	t.Helper()
	for _, g := range all {
		t.Run(g.rule+"/"+g.name, func(t *testing.T) {
			t.Parallel()
			g.run(t)
		})
	}
}

const head = `syntax = "proto3"; package t.v1;
import "google/protobuf/duration.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
import "google/type/date.proto"; import "google/type/decimal.proto"; import "google/type/money.proto";
import "idem/v1/options.proto";
`

// findings are those of one rule.
func findings(t *testing.T, rule string, sources gentest.Sources, facts config.Facts) []lint.Finding {
	t.Helper()
	req := gentest.Request(t, "", sources)
	files, err := schema.Link(req.GetProtoFile())
	require.NoError(t, err)
	in := schemas.Input{
		Files: files, Paths: req.GetFileToGenerate(), Facts: facts,
		Source: func(path string) []byte { return []byte(sources[path]) },
	}
	asked := false
	found := schemas.Run(in, func(r *lint.Rule) bool {
		asked = asked || r.ID == rule
		return r.ID == rule
	})
	require.True(t, asked, "there is no rule %s", rule)
	return found
}

// message is an annotated message M with a key of id, and option beside it.
func message(option, fields string) string {
	return `message M { option (idem.v1.message) = {idempotency_key: "t.m:v1:{id}" ` + option + `}; string id = 1; ` + fields + ` }`
}

// keyed is an annotated message M with a key of one field x, which is declared by field.
func keyed(field string) string {
	name := strings.Fields(field)[1]
	return `message M { option (idem.v1.message).idempotency_key = "t.m:v1:{id}:{` + name + `}"; string id = 1; ` + field + ` }`
}

func ptr[T any](v T) *T { return &v }

// lintOnly is findings, of some of the files.
func lintOnly(t *testing.T, rule string, sources gentest.Sources, paths ...string) []lint.Finding {
	t.Helper()
	req := gentest.Request(t, "", sources, paths...)
	files, err := schema.Link(req.GetProtoFile())
	require.NoError(t, err)
	return schemas.Run(schemas.Input{Files: files, Paths: paths}, func(r *lint.Rule) bool { return r.ID == rule })
}
