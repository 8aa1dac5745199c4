package java

import (
	"path"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/schema"
)

// The names that protoc's Java generator gives (PLUG-005). names_test.go asks protoc itself.

// javaPackage is the package of a file's classes, empty for the unnamed one.
func javaPackage(f protoreflect.FileDescriptor) string {
	if o := fileOptions(f); o.JavaPackage != nil {
		return o.GetJavaPackage()
	}
	return string(f.Package())
}

func fileOptions(f protoreflect.FileDescriptor) *descriptorpb.FileOptions {
	if o, _ := f.Options().(*descriptorpb.FileOptions); o != nil {
		return o
	}
	return new(descriptorpb.FileOptions)
}

// outerClass is the class of a file, around all others or beside them.
func outerClass(f protoreflect.FileDescriptor) string {
	if o := fileOptions(f); o.JavaOuterClassname != nil {
		return o.GetJavaOuterClassname()
	}
	base := path.Base(f.Path())
	for _, ending := range []string{".protodevel", ".proto"} {
		if strings.HasSuffix(base, ending) {
			base = strings.TrimSuffix(base, ending)
			break
		}
	}
	name := camelCase(base, true)
	switch {
	case schema.Edition(f) >= descriptorpb.Edition_EDITION_2024:
		return name + "Proto"
	case declares(f, protoreflect.Name(name)):
		return name + "OuterClass"
	}
	return name
}

// declares says whether a file has a message, an enum or a service of that name, nested ones too.
func declares(f protoreflect.FileDescriptor, name protoreflect.Name) bool {
	var within func(ms protoreflect.MessageDescriptors) bool
	within = func(ms protoreflect.MessageDescriptors) bool {
		for i := 0; i < ms.Len(); i++ {
			if m := ms.Get(i); m.Name() == name || m.Enums().ByName(name) != nil || within(m.Messages()) {
				return true
			}
		}
		return false
	}
	return f.Enums().ByName(name) != nil || f.Services().ByName(name) != nil || within(f.Messages())
}

// inFileClass says whether the class of a message or enum, or the one around it, is in the file's class.
func inFileClass(d protoreflect.Descriptor) bool {
	top := d
	for {
		parent := top.Parent()
		if _, ok := parent.(protoreflect.FileDescriptor); ok || parent == nil {
			break
		}
		top = parent
	}
	f := d.ParentFile()
	if schema.Edition(f) >= descriptorpb.Edition_EDITION_2024 {
		return schema.JavaFeature(top, nestInFileClass, 0) == nestInFileClassYes
	}
	return !fileOptions(f).GetJavaMultipleFiles()
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

// className is the name of the class of a message or enum in its package: PaymentProto.Outer.Inner.
func className(d protoreflect.Descriptor) string {
	names := simpleNames(d)
	if inFileClass(d) {
		names = append([]string{outerClass(d.ParentFile())}, names...)
	}
	return strings.Join(names, ".")
}

// idemClass is the simple name of the class that is generated for a message or enum.
func idemClass(d protoreflect.Descriptor) string {
	return strings.Join(simpleNames(d), "") + "Idem"
}

func qualified(pkg, name string) string {
	if pkg == "" {
		return name
	}
	return pkg + "." + name
}

// fileName is the path of a class's file.
func fileName(pkg, class string) string {
	return strings.ReplaceAll(qualified(pkg, class), ".", "/") + ".java"
}

// camelCase turns foo_bar into FooBar or fooBar: what is no letter or digit goes, and a letter after it
// or after a digit is a capital.
func camelCase(s string, capital bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z':
			if capital {
				c -= 'a' - 'A'
			}
			capital = false
		case 'A' <= c && c <= 'Z':
			if i == 0 && !capital {
				c += 'a' - 'A'
			}
			capital = false
		case '0' <= c && c <= '9':
			capital = true
		default:
			capital = true
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// forbidden are fields whose getter a base class has; theirs ends in an underscore.
var forbidden = map[string]bool{
	"Class":                     true,
	"DefaultInstanceForType":    true,
	"ParserForType":             true,
	"SerializedSize":            true,
	"AllFields":                 true,
	"DescriptorForType":         true,
	"InitializationErrorString": true,
	"UnknownFields":             true,
	"CachedSize":                true,
}

// plainAccessor is a field's name in its accessors, "PaymentId" in getPaymentId, before conflicts.
func plainAccessor(d protoreflect.FieldDescriptor) string {
	name := string(d.Name())
	if isGroup(d) {
		name = string(d.Message().Name())
	}
	name = camelCase(name, true)
	if forbidden[name] {
		name += "_"
	}
	return name
}

// isGroup says whether a field is what a group declares: its name is that of its type in lower case.
func isGroup(d protoreflect.FieldDescriptor) bool {
	return d.Kind() == protoreflect.GroupKind && d.Message().ParentFile() == d.ParentFile() &&
		d.Message().Parent() == d.Parent() && string(d.Name()) == strings.ToLower(string(d.Message().Name()))
}

// accessors are the names of a message's fields in their accessors. Fields that would share one all
// have their numbers appended.
func accessors(m protoreflect.MessageDescriptor) []string {
	fields := m.Fields()
	names := make([]string, fields.Len())
	// byName is the fields of each name, so that a message of a thousand fields costs no million steps.
	byName := make(map[string][]int, fields.Len())
	for i := range names {
		names[i] = plainAccessor(fields.Get(i))
		byName[names[i]] = append(byName[names[i]], i)
	}
	conflict := make([]bool, len(names))
	clash := func(i int, suffix string, with func(other protoreflect.FieldDescriptor) bool) {
		for _, j := range byName[names[i]+suffix] {
			if i != j && with(fields.Get(j)) {
				conflict[i], conflict[j] = true, true
			}
		}
	}
	any := func(protoreflect.FieldDescriptor) bool { return true }
	singular := func(d protoreflect.FieldDescriptor) bool { return d.Cardinality() != protoreflect.Repeated }
	for i := range names {
		d := fields.Get(i)
		clash(i, "", any)
		if !singular(d) {
			clash(i, "Count", singular)
			clash(i, "List", singular)
		}
		if d.Kind() == protoreflect.EnumKind && !schema.ClosedInJava(d) {
			clash(i, "Value", any)
		}
	}
	for i := range names {
		if conflict[i] {
			names[i] += strconv.Itoa(int(fields.Get(i).Number()))
		}
	}
	return names
}

// namer remembers the accessors of messages.
type namer map[protoreflect.FullName][]string

// accessor is a field's name in its accessors: "PaymentId" in getPaymentId and hasPaymentId.
func (n namer) accessor(d protoreflect.FieldDescriptor) string {
	m := d.ContainingMessage()
	names, ok := n[m.FullName()]
	if !ok {
		names = accessors(m)
		n[m.FullName()] = names
	}
	return names[d.Index()]
}
