package python

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
)

// TestCollisions asks for the position of the second of two names that meet. (PLUG-005)
func TestCollisions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{
			"a nested message and one beside it",
			map[string]string{"shop/a.proto": `syntax = "proto3"; package shop; import "idem/v1/options.proto";
message Outer {
  message Inner { option (idem.v1.message) = {idempotency_key: "one:{id}"}; string id = 1; }
}
enum OuterInner { option (idem.v1.state_machine) = {transition: {from: "" to: "A"}}; OUTER_INNER_UNSPECIFIED = 0; OUTER_INNER_A = 1; }
`},
			"shop/a.proto:5:1: the Python class of shop.OuterInner would be OuterInnerIdem, as that of shop.Outer.Inner is: rename one of them",
		},
		{
			"the first is the one that is declared first",
			map[string]string{"shop/a.proto": `syntax = "proto3"; package shop; import "idem/v1/options.proto";
message OuterInner { option (idem.v1.message) = {idempotency_key: "one:{id}"}; string id = 1; }
message Outer {
  message Inner { option (idem.v1.message) = {idempotency_key: "two:{id}"}; string id = 1; }
}
`},
			"shop/a.proto:4:3: the Python class of shop.Outer.Inner would be OuterInnerIdem, as that of shop.OuterInner is: rename one of them",
		},
		{
			"two files of one module",
			map[string]string{"shop/a-b.proto": annotated("one", "A"), "shop/a_b.proto": annotated("two", "B")},
			"shop/a_b.proto:1:1: its Python module would be shop/a_b_idem.py, as that of shop/a-b.proto is: rename one of the files",
		},
		{
			"a dot and a slash",
			map[string]string{"shop.v1/a.proto": annotated("one", "A"), "shop/v1/a.proto": annotated("two", "B")},
			"shop/v1/a.proto:1:1: its Python module would be shop/v1/a_idem.py, as that of shop.v1/a.proto is: rename one of the files",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var names []string
			for name := range c.files {
				names = append(names, name)
			}
			out, problems := emitted(t, source(t, c.files), names, emit.Options{})
			assert.Empty(t, out)
			assert.Equal(t, c.want, schema.Report(problems))
		})
	}
}

// TestSupportPackage refuses a package that Python cannot import. (PLUG-001)
func TestSupportPackage(t *testing.T) {
	t.Parallel()
	_, problems := emitted(t, source(t, map[string]string{"a.proto": annotated("one", "A")}), []string{"a.proto"},
		emit.Options{SupportPackage: "com.import.idem"})
	assert.Equal(t, "a.proto:1:1: support_package=com.import.idem has import, which is a keyword of Python: take another name", schema.Report(problems))
}
