package java

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/emit"
)

// TestProblems is the schemas that Java cannot have. (PLUG-005)
func TestProblems(t *testing.T) {
	t.Parallel()
	const head = `syntax = "proto3"; package shop.v1; option java_package = "com.acme"; import "idem/v1/options.proto";` + "\n"
	key := func(name string) string {
		return `option (idem.v1.message) = {idempotency_key: "` + name + `:{id}"}; string id = 1;`
	}
	tests := []struct {
		name    string
		files   map[string]string
		support string
		want    string
	}{
		{
			name: "two messages of one file",
			files: map[string]string{"a.proto": head +
				"message Outer { message Inner { " + key("a") + " } }\n" +
				"message OuterInner { " + key("b") + " }"},
			want: "a.proto:3:1: the Java class of shop.v1.OuterInner would be com.acme.OuterInnerIdem, as that of shop.v1.Outer.Inner already is: rename one of them, or give their files another java_package",
		},
		{
			name: "the second one is the later one, also where it is a message and the first an enum",
			files: map[string]string{"a.proto": head +
				"message Pay { enum Error { ZERO = 0; ONE = 1 [(idem.v1.error).outcome = OUTCOME_OK]; } }\n" +
				"message PayError { " + key("b") + " }"},
			want: "a.proto:3:1: the Java class of shop.v1.PayError would be com.acme.PayErrorIdem, as that of shop.v1.Pay.Error already is: rename one of them, or give their files another java_package",
		},
		{
			name: "two messages whose names differ in case",
			files: map[string]string{"a.proto": head +
				"message Paid { " + key("a") + " }\n" +
				"message PAID { " + key("b") + " }"},
			want: "a.proto:3:1: the Java class of shop.v1.PAID would be com.acme.PAIDIdem, which case alone tells from com.acme.PaidIdem, that of shop.v1.Paid, and not every file system does: rename one of them, or give their files another java_package",
		},
		{
			name: "messages of two files",
			files: map[string]string{
				"a.proto": head + "message Outer { message Inner { " + key("a") + " } }",
				"b.proto": strings.Replace(head, "shop.v1", "shop.v2", 1) + "message OuterInner { " + key("b") + " }",
			},
			want: "b.proto:2:1: the Java class of shop.v2.OuterInner would be com.acme.OuterInnerIdem, as that of shop.v1.Outer.Inner already is: rename one of them, or give their files another java_package",
		},
		{
			name:  "the class of the file",
			files: map[string]string{"paid_idem.proto": head + "message Paid { " + key("a") + " }"},
			want:  "paid_idem.proto:2:1: the Java class of shop.v1.Paid would be com.acme.PaidIdem, as protoc's class of the file paid_idem.proto already is: rename one of them, or give their files another java_package",
		},
		{
			name: "a message of protoc's",
			files: map[string]string{"a.proto": head + "option java_multiple_files = true;\n" +
				"message Paid { " + key("a") + " }\nmessage PaidIdem {}"},
			want: "a.proto:3:1: the Java class of shop.v1.Paid would be com.acme.PaidIdem, as protoc's class of shop.v1.PaidIdem already is: rename one of them, or give their files another java_package",
		},
		{
			name: "a message of protoc's in an import",
			files: map[string]string{
				"a.proto": head + `import "b.proto";` + "\nmessage Paid { " + key("a") + " }",
				"b.proto": head + "option java_multiple_files = true; message PaidIdem {}",
			},
			want: "a.proto:3:1: the Java class of shop.v1.Paid would be com.acme.PaidIdem, as protoc's class of shop.v1.PaidIdem already is: rename one of them, or give their files another java_package",
		},
		{
			name:  "a package that is a path",
			files: map[string]string{"a.proto": strings.Replace(head, "com.acme", "../acme", 1) + "message Paid { " + key("a") + " }"},
			want:  `a.proto:1:1: java_package is "../acme", which is no name of a package: com.acme.shop.v1 is one`,
		},
		{
			name:    "a class of the support package",
			files:   map[string]string{"a.proto": head + "option java_multiple_files = true; message Paid { " + key("a") + " }\nmessage Header {}"},
			support: "com.acme",
			want:    "a.proto:3:1: protoc's class of shop.v1.Header is com.acme.Header, and a support class of idem is too: choose another support_package, or give the file another java_package",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := source(t, test.files)
			var names []string
			for name := range test.files {
				names = append(names, name)
			}
			out, problems := emitted(t, files, names, emit.Options{SupportPackage: test.support})
			assert.Empty(t, out)
			require.Len(t, problems, 1)
			assert.Equal(t, test.want, problems[0].String())
		})
	}
}

// TestNoProblem is names that only look as if they collided.
func TestNoProblem(t *testing.T) {
	t.Parallel()
	files := source(t, map[string]string{"a.proto": `syntax = "proto3"; package shop.v1; import "idem/v1/options.proto";
		message Paid { option (idem.v1.message) = {idempotency_key: "a:{id}"}; string id = 1; }
		message PaidIdem {}
		service PaidIdem2 {}`})
	out, problems := emitted(t, files, []string{"a.proto"}, emit.Options{})
	assert.Empty(t, problems)
	assert.Len(t, out, 1)
}
