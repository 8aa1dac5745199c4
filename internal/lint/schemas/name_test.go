package schemas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/internal/gen/gentest"
	"github.com/idem-spec/idem/internal/lint/config"
)

var noFacts config.Facts

// sources are one file with all imports.
func sources(proto string) gentest.Sources { return gentest.Sources{"t.proto": head + proto} }

func TestFieldsThatAreNamedAsHeaders(t *testing.T) {
	const rule = "IDEM_FIELD_NAMED_AS_HEADER"
	runAll(t, []given{
		{name: "the retries", rule: rule, proto: message(``, `int32 retry_count = 2;`), want: []string{"t.v1.M.retry_count"}},
		{name: "two", rule: rule, proto: message(``, `string event_id = 2; string event_type = 3;`), want: []string{"event_id", "event_type"}},
		{name: "what the header is made from", rule: rule,
			proto: message(`occurred_at: "{occurred_at}"`, `google.protobuf.Timestamp occurred_at = 2;`)},
		{name: "another time is", rule: rule,
			proto: message(`occurred_at: "{at}"`, `google.protobuf.Timestamp at = 2; google.protobuf.Timestamp occurred_at = 3;`), want: []string{"t.v1.M.occurred_at"}},
		{name: "what a key names", rule: rule, proto: keyed(`string idempotency_key = 2;`)},
		{name: "words of many trades", rule: rule, proto: message(``, `string topic = 2; bytes fingerprint = 3;`)},
		{name: "of a message that is not sent", rule: rule, proto: `message M { int32 retry_count = 1; }`},
		{name: "of an object in the message", rule: rule, proto: message(``, `Sub s = 2;`) + ` message Sub { string event_id = 1; }`},
	})
}

func TestNamesCollideInTheLanguagesThatAreGenerated(t *testing.T) {
	t.Parallel()
	const rule = "IDEM_NAME_COLLISION"
	inClasses := sources(`message A { message B { option (idem.v1.message).idempotency_key = "t.one:v1:{id}"; string id = 1; } }
		message AB { option (idem.v1.message).idempotency_key = "t.two:v1:{id}"; string id = 1; }`)
	const (
		class  = "the Java class of t.v1.AB would be t.v1.ABIdem, as that of t.v1.A.B already is"
		python = "the Python class of t.v1.AB would be ABIdem, as that of t.v1.A.B is"
		method = "t.v1.M.idem_key is the field IdemKey in Go, and idem generates a method of that name"
		parse  = "t.v1.IdemParseS is IdemParseS in Go, and idem generates a function of that name for t.v1.S"
		file   = "its Go file would be example.com/t/a_idem.pb.go, which case alone tells from example.com/t/A_idem.pb.go of A.proto, and not every file system does"
	)
	field := sources(message(``, `string idem_key = 2;`))
	machine := sources(`enum S { option (idem.v1.state_machine) = {transition: {from: "" to: "A"}}; S_UNSPECIFIED = 0; S_A = 1; } message IdemParseS {}`)
	one := func(name, event string) string {
		return `syntax = "proto3"; package t.v1; option go_package = "example.com/t"; option java_package = "com.example.` + event + `";
import "idem/v1/options.proto"; message ` + name + ` { option (idem.v1.message).idempotency_key = "t.` + event + `:v1:{id}"; string id = 1; }`
	}
	for _, test := range []struct {
		name      string
		sources   gentest.Sources
		languages []string
		want      []string
	}{
		{"classes", inClasses, nil, []string{class, python}},
		{"classes, in Java alone", inClasses, []string{"java"}, []string{class}},
		{"classes, which Go has not", inClasses, []string{"go"}, nil},
		{"a field and a method of Go", field, nil, []string{method}},
		{"a field and a method, where there is no Go", field, []string{"java", "python"}, nil},
		{"a field in camel case", sources(message(``, `string idemKey = 2;`)), []string{"go"},
			[]string{"t.v1.M.idemKey is the field IdemKey in Go, and idem generates a method of that name"}},
		{"a field that only begins so", sources(message(``, `string idem_key_text = 2;`)), []string{"go"}, nil},
		{"a message and a function of Go", machine, []string{"go"}, []string{parse}},
		{"files that case alone tells apart", gentest.Sources{"a.proto": one("One", "one"), "A.proto": one("Two", "two")}, []string{"go"}, []string{file}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range findings(t, rule, test.sources, config.Facts{Languages: test.languages}) {
				got = append(got, f.What)
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestGoPackageIsMissingWhereOthersHaveOne(t *testing.T) {
	t.Parallel()
	const rule = "IDEM_GO_PACKAGE_MISSING"
	file := func(name, options string) string {
		return `syntax = "proto3"; package t.v1; import "idem/v1/options.proto"; ` + options + `
message ` + name + ` { option (idem.v1.message).idempotency_key = "t.` + name + `:v1:{id}"; string id = 1; }`
	}
	const stated = `option go_package = "example.com/t;tv1";`
	for _, test := range []struct {
		name      string
		sources   gentest.Sources
		languages []string
		want      []string
	}{
		{"in one of two", gentest.Sources{"a.proto": file("A", stated), "b.proto": file("B", "")}, nil, []string{"it has no go_package, and lang=go needs one"}},
		{"where there is no Go", gentest.Sources{"a.proto": file("A", stated), "b.proto": file("B", "")}, []string{"java"}, nil},
		{"in neither", gentest.Sources{"a.proto": file("A", ""), "b.proto": file("B", "")}, nil, nil},
		{"in both", gentest.Sources{"a.proto": file("A", stated), "b.proto": file("B", stated)}, nil, nil},
		{"of a file without options of idem", gentest.Sources{"a.proto": file("A", stated), "b.proto": `syntax = "proto3"; message B {}`}, nil, nil},
		{"no path", gentest.Sources{"a.proto": file("A", `option go_package = "tv1";`)}, nil, []string{`its go_package "tv1" is no import path`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range findings(t, rule, test.sources, config.Facts{Languages: test.languages}) {
				got = append(got, f.What)
			}
			require.Equal(t, test.want, got)
		})
	}
}
