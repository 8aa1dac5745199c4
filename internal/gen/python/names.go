package python

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// The names that protoc's Python generator gives (PLUG-005). run_test.go asks protoc itself.

// moduleName is the module of a file, "shop.v1.payment" and an ending. Every dot of a file's name but
// that of its ending parts two packages, as every slash does.
func moduleName(f protoreflect.FileDescriptor, ending string) string {
	path := f.Path()
	for _, proto := range []string{".protodevel", ".proto"} {
		if strings.HasSuffix(path, proto) {
			path = strings.TrimSuffix(path, proto)
			break
		}
	}
	return strings.NewReplacer("-", "_", "/", ".").Replace(path) + ending
}

// moduleFile is the path of the module's file.
func moduleFile(f protoreflect.FileDescriptor, ending string) string {
	return strings.ReplaceAll(moduleName(f, ending), ".", "/") + ".py"
}

// simpleNames are the names of a message or enum and of what it is in, the outermost first:
// Outer, Inner.
func simpleNames(d protoreflect.Descriptor) []string {
	name := string(d.FullName())
	if pkg := d.ParentFile().Package(); pkg != "" {
		name = strings.TrimPrefix(name, string(pkg)+".")
	}
	return strings.Split(name, ".")
}

// idemClass is the class that is generated for a message or enum.
func idemClass(d protoreflect.Descriptor) string {
	return strings.Join(simpleNames(d), "") + "Idem"
}

// keywords are the words that are no names in any Python from 3.10 on. Soft keywords, match and type
// among them, are names.
var keywords = wordSet(`False None True and as assert async await break class continue def del elif else except
	finally for from global if import in is lambda nonlocal not or pass raise return try while with yield`)

// globals are the names that generated functions use, which a local variable must not hide.
var globals = wordSet(`Any cast cls content ctx getattr idemspec key len m n str type`)

func wordSet(words string) map[string]bool {
	all := make(map[string]bool)
	for _, word := range strings.Fields(words) {
		all[word] = true
	}
	return all
}

// isPlain says whether a name may stand in a class as it is: an identifier that is no keyword, and that
// Python does not make private to the class.
func isPlain(name string) bool {
	if keywords[name] || name == "" || strings.HasPrefix(name, "__") && !strings.HasSuffix(name, "__") {
		return false
	}
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}

// attribute reads a field of a message.
func attribute(holder string, field protoreflect.Name) string {
	if !isPlain(string(field)) {
		return "getattr(" + holder + ", " + literal(string(field)) + ")"
	}
	return holder + "." + string(field)
}
