package java

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// claim is who has a class already, and its name.
type claim struct {
	what, class string
	// decl is nil for a support class.
	decl protoreflect.Descriptor
}

// claims are the classes that are taken. Names that differ in case alone are one, as their files are on
// a system that does not tell cases apart.
type claims map[string]claim

func (c claims) take(class, what string, decl protoreflect.Descriptor) {
	c[strings.ToLower(class)] = claim{what, class, decl}
}

// of returns who has a class.
func (c claims) of(class string) (other claim, taken bool) {
	other, taken = c[strings.ToLower(class)]
	return other, taken
}

// is says that a class is taken, or differs in case alone from one that is.
func (c claim) is(class string) string {
	if c.class == class {
		return class + ", as " + c.what + " already is"
	}
	return class + ", which case alone tells from " + c.class + ", " + c.what + ", and not every file system does"
}

// checkNames refuses a class that there is already: of protoc's, of the support sources, or of another
// message or enum. (PLUG-005)
func (r *run) checkNames(files []*schema.File) {
	taken := make(claims)
	seen := make(map[string]bool)
	for _, f := range files {
		takeFile(f.Desc, taken, seen)
	}
	for class := range supportClasses {
		class = qualified(r.support, class)
		if other, ok := taken.of(class); ok {
			r.problem(other.decl, "PLUG-005", fmt.Sprintf("%s is %s, and a support class of idem is too", other.what, other.class),
				"choose another support_package, or give the file another java_package")
		}
		taken.take(class, "a support class of idem", nil)
	}
	for _, f := range files {
		r.checkPackage(f)
		for _, d := range declared(f) {
			class := qualified(javaPackage(f.Desc), idemClass(d))
			if other, ok := taken.of(class); ok {
				r.problem(d, "PLUG-005", fmt.Sprintf("the Java class of %s would be %s", d.FullName(), other.is(class)),
					"rename one of them, or give their files another java_package")
				continue
			}
			taken.take(class, "that of "+string(d.FullName()), d)
		}
	}
}

// checkPackage refuses a package that is none, since it becomes a path.
func (r *run) checkPackage(f *schema.File) {
	pkg := javaPackage(f.Desc)
	if !f.Annotated() || pkg == "" {
		return
	}
	for _, part := range strings.Split(pkg, ".") {
		for i, c := range part {
			if c != '_' && c != '$' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
				part = ""
				break
			}
		}
		if part == "" {
			r.problem(f.Desc, "PLUG-005", fmt.Sprintf("java_package is %q, which is no name of a package", pkg), "com.acme.shop.v1 is one")
			return
		}
	}
}

// takeFile takes the classes that protoc makes of a file and of what it imports. Only top-level ones
// count: those inside of a file's class are out of the way.
func takeFile(f protoreflect.FileDescriptor, taken claims, seen map[string]bool) {
	if f.IsPlaceholder() || seen[f.Path()] {
		return
	}
	seen[f.Path()] = true
	pkg := javaPackage(f)
	take := func(class, what string, d protoreflect.Descriptor) {
		taken.take(qualified(pkg, class), "protoc's class of "+what, d)
	}
	take(outerClass(f), "the file "+f.Path(), f)
	for i := 0; i < f.Messages().Len(); i++ {
		if m := f.Messages().Get(i); !inFileClass(m) {
			take(string(m.Name()), string(m.FullName()), m)
		}
	}
	for i := 0; i < f.Enums().Len(); i++ {
		if e := f.Enums().Get(i); !inFileClass(e) {
			take(string(e.Name()), string(e.FullName()), e)
		}
	}
	if fileOptions(f).GetJavaGenericServices() {
		for i := 0; i < f.Services().Len(); i++ {
			if s := f.Services().Get(i); !inFileClass(s) {
				take(string(s.Name()), string(s.FullName()), s)
			}
		}
	}
	for i := 0; i < f.Imports().Len(); i++ {
		takeFile(f.Imports().Get(i).FileDescriptor, taken, seen)
	}
}

// declared are the messages and enums of a file that get a class, in the order of the file.
func declared(f *schema.File) []protoreflect.Descriptor {
	var all []protoreflect.Descriptor
	for _, m := range f.Messages {
		all = append(all, m.Desc)
	}
	for _, e := range f.Enums {
		all = append(all, e.Desc)
	}
	locations := f.Desc.SourceLocations()
	slices.SortStableFunc(all, func(a, b protoreflect.Descriptor) int {
		x, y := locations.ByDescriptor(a), locations.ByDescriptor(b)
		return cmp.Or(cmp.Compare(x.StartLine, y.StartLine), cmp.Compare(x.StartColumn, y.StartColumn))
	})
	return all
}
