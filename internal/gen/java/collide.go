package java

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/schema"
)

// checkNames refuses a class that there is already: of protoc's, of the support sources, or of another
// message or enum. (PLUG-005)
func (r *run) checkNames(files []*schema.File) {
	taken := make(map[string]string)
	seen := make(map[string]bool)
	for _, f := range files {
		takeFile(f.Desc, taken, seen)
	}
	for class := range supportClasses {
		taken[qualified(r.support, class)] = "a support class of idem"
	}
	for _, f := range files {
		for _, d := range declared(f) {
			class := qualified(javaPackage(f.Desc), idemClass(d))
			if other, ok := taken[class]; ok {
				r.problem(d, "PLUG-005", fmt.Sprintf("the Java class of %s would be %s, as %s already is", d.FullName(), class, other),
					"rename one of them, or give their files another java_package")
				continue
			}
			taken[class] = "that of " + string(d.FullName())
		}
	}
}

// takeFile takes the classes that protoc makes of a file and of what it imports. Only top-level ones
// count: those inside of a file's class are out of the way.
func takeFile(f protoreflect.FileDescriptor, taken map[string]string, seen map[string]bool) {
	if f.IsPlaceholder() || seen[f.Path()] {
		return
	}
	seen[f.Path()] = true
	pkg := javaPackage(f)
	take := func(class, what string) { taken[qualified(pkg, class)] = what }
	take(outerClass(f), "protoc's class of the file "+f.Path())
	for i := 0; i < f.Messages().Len(); i++ {
		if m := f.Messages().Get(i); !inFileClass(m) {
			take(string(m.Name()), "protoc's class of "+string(m.FullName()))
		}
	}
	for i := 0; i < f.Enums().Len(); i++ {
		if e := f.Enums().Get(i); !inFileClass(e) {
			take(string(e.Name()), "protoc's class of "+string(e.FullName()))
		}
	}
	if fileOptions(f).GetJavaGenericServices() {
		for i := 0; i < f.Services().Len(); i++ {
			if s := f.Services().Get(i); !inFileClass(s) {
				take(string(s.Name()), "protoc's class of "+string(s.FullName()))
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
