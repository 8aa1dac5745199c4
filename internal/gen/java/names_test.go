package java

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
)

// TestAccessors asks protoc for the getters of every field of the cases. (PLUG-005)
func TestAccessors(t *testing.T) {
	t.Parallel()
	for _, dir := range cases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			for _, f := range directory(t, dir) {
				if _, err := os.Stat(filepath.Join(dir, f.Path())); err != nil {
					continue
				}
				out := t.TempDir()
				protoc(t, dir, "--java_out="+out, f.Path())
				got := protocGetters(t, out)
				checked := 0
				eachMessage(f.Messages(), func(m protoreflect.MessageDescriptor) {
					names := accessors(m)
					for i, name := range names {
						d := m.Fields().Get(i)
						want := got[string(m.Name())][int(d.Number())]
						checked++
						if d.Cardinality() == protoreflect.Repeated {
							assert.Contains(t, want, "get"+name+"Count", "%s in %v", d.FullName(), want)
							continue
						}
						assert.Contains(t, want, "get"+name, "%s in %v", d.FullName(), want)
						if d.HasPresence() {
							assert.Contains(t, want, "has"+name, "%s in %v", d.FullName(), want)
						}
						if d.Kind() == protoreflect.EnumKind {
							assert.Equal(t, !schema.ClosedInJava(d), contains(want, "get"+name+"Value"), "%s in %v", d.FullName(), want)
						}
					}
				})
				assert.Positive(t, checked, "no field of %s", f.Path())
			}
		})
	}
}

func contains(all []string, s string) bool {
	for _, v := range all {
		if v == s {
			return true
		}
	}
	return false
}

func eachMessage(ms protoreflect.MessageDescriptors, visit func(protoreflect.MessageDescriptor)) {
	for i := 0; i < ms.Len(); i++ {
		if m := ms.Get(i); !m.IsMapEntry() {
			visit(m)
			eachMessage(m.Messages(), visit)
		}
	}
}

var (
	ofInterface = regexp.MustCompile(`^( *)(?:@[\w.]+ )?(?:public )?interface (\w+)OrBuilder`)
	ofField     = regexp.MustCompile(`<code>.* = (\d+)(?:,|;| \[| \{).*`)
	ofGetter    = regexp.MustCompile(`\b((?:get|has)\w+)\(`)
)

// protocGetters reads protoc's interfaces: the getters of each field number of each message. Above each
// stands the field's declaration.
func protocGetters(t *testing.T, dir string) map[string]map[int][]string {
	t.Helper()
	all := make(map[string]map[int][]string)
	for _, name := range javaFiles(t, dir) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		var fields map[int][]string
		end, number := "", 0
		for _, line := range strings.Split(string(content), "\n") {
			if found := ofInterface.FindStringSubmatch(line); found != nil {
				fields, end = make(map[int][]string), found[1]+"}"
				all[found[2]] = fields
			}
			if line == end {
				fields = nil
			}
			if fields == nil {
				continue
			}
			if found := ofField.FindStringSubmatch(line); found != nil {
				number, err = strconv.Atoi(found[1])
				require.NoError(t, err)
			} else if found := ofGetter.FindStringSubmatch(line); found != nil && !strings.Contains(line, "*") {
				fields[number] = append(fields[number], found[1])
			}
		}
	}
	return all
}

// TestFileClasses asks protoc for the class of a file. (PLUG-005)
func TestFileClasses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, content string
		want                string
	}{
		{"plain", "foo_bar.proto", `syntax = "proto3"; package p;`, "p/FooBar.java"},
		{"no package", "foo_bar.proto", `syntax = "proto3";`, "FooBar.java"},
		{"directories", "a/b/foo.proto", `syntax = "proto3"; package p.v1;`, "p/v1/Foo.java"},
		{"java_package", "foo.proto", `syntax = "proto3"; package p; option java_package = "com.acme";`, "com/acme/Foo.java"},
		{"java_package of nothing", "foo.proto", `syntax = "proto3"; package p; option java_package = "";`, "Foo.java"},
		{"odd characters", "1foo-bar.baz.proto", `syntax = "proto3"; package p;`, "p/1FooBarBaz.java"},
		{"digits", "foo2bar.proto", `syntax = "proto3"; package p;`, "p/Foo2Bar.java"},
		{"as a message", "foo.proto", `syntax = "proto3"; package p; message Foo {}`, "p/FooOuterClass.java"},
		{"as a nested message", "foo.proto", `syntax = "proto3"; package p; message M { message Foo {} }`, "p/FooOuterClass.java"},
		{"as a nested enum", "foo.proto", `syntax = "proto3"; package p; message M { enum Foo { A = 0; } }`, "p/FooOuterClass.java"},
		{"as an enum", "foo.proto", `syntax = "proto3"; package p; enum Foo { A = 0; }`, "p/FooOuterClass.java"},
		{"as a service", "foo.proto", `syntax = "proto3"; package p; service Foo {}`, "p/FooOuterClass.java"},
		{"in another case", "foo_bar.proto", `syntax = "proto3"; package p; message Foobar {}`, "p/FooBar.java"},
		{"given", "foo.proto", `syntax = "proto3"; package p; option java_outer_classname = "Given"; message Foo {}`, "p/Given.java"},
		{"edition 2023", "foo.proto", `edition = "2023"; package p; message Foo {}`, "p/FooOuterClass.java"},
		{"edition 2024", "foo_bar.proto", `edition = "2024"; package p; message FooBar {}`, "p/FooBarProto.java"},
		{"edition 2024, ends in proto", "foo_proto.proto", `edition = "2024"; package p;`, "p/FooProtoProto.java"},
		{"edition 2024, given", "foo.proto", `edition = "2024"; package p; option java_outer_classname = "Given";`, "p/Given.java"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, out := t.TempDir(), t.TempDir()
			writeFiles(t, dir, []emit.File{{Name: test.path, Content: test.content}})
			protoc(t, dir, "--java_out="+out, test.path)
			assert.Contains(t, javaFiles(t, out), test.want, "protoc's own")

			for _, f := range link(t, compileByProtoc(t, dir, []string{test.path})) {
				assert.Equal(t, test.want, fileName(javaPackage(f), outerClass(f)))
			}
		})
	}
}

// TestClassNames is about classes in classes. TestCompiles shows that protoc has them.
func TestClassNames(t *testing.T) {
	t.Parallel()
	f := source(t, map[string]string{"shop.proto": `syntax = "proto3"; package shop.v1;
		message Outer { message Inner { enum Deep { A = 0; } } }`})[0]
	deep := f.Messages().Get(0).Messages().Get(0).Enums().Get(0)
	assert.Equal(t, "Shop.Outer.Inner.Deep", className(deep))
	assert.Equal(t, "OuterInnerDeepIdem", idemClass(deep))
	assert.Equal(t, "com/acme/OuterInnerDeepIdem.java", fileName("com.acme", idemClass(deep)))
}
