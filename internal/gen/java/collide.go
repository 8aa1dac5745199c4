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

// claim is who has a class already.
type claim struct {
	what string
	// decl is nil for a support class.
	decl protoreflect.Descriptor
}

// checkNames refuses a class that there is already: of protoc's, of the support sources, or of another
// message or enum. (PLUG-005)
func (r *run) checkNames(files []*schema.File) {
	taken := make(map[string]claim)
	seen := make(map[string]bool)
	for _, f := range files {
		takeFile(f.Desc, taken, seen)
	}
	for class := range supportClasses {
		class = qualified(r.support, class)
		if other, ok := taken[class]; ok {
			r.problem(other.decl, "PLUG-005", fmt.Sprintf("%s is %s, and a support class of idem is too", other.what, class),
				"choose another support_package, or give the file another java_package")
		}
		taken[class] = claim{what: "a support class of idem"}
	}
	for _, f := range files {
		r.checkPackage(f)
		for _, d := range declared(f) {
			class := qualified(javaPackage(f.Desc), idemClass(d))
			if other, ok := taken[class]; ok {
				r.problem(d, "PLUG-005", fmt.Sprintf("the Java class of %s would be %s, as %s already is", d.FullName(), class, other.what),
					"rename one of them, or give their files another java_package")
				continue
			}
			taken[class] = claim{"that of " + string(d.FullName()), d}
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
func takeFile(f protoreflect.FileDescriptor, taken map[string]claim, seen map[string]bool) {
	if f.IsPlaceholder() || seen[f.Path()] {
		return
	}
	seen[f.Path()] = true
	pkg := javaPackage(f)
	take := func(class, what string, d protoreflect.Descriptor) {
		taken[qualified(pkg, class)] = claim{"protoc's class of " + what, d}
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
