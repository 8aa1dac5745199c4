// Package java emits Java: for each annotated message and enum a class of static members, beside the
// classes of protoc's own generator, and the support sources they call.
//
// The outline: emit.go is a run and its files; message.go and enum.go are what the templates in
// templates/java show; component.go is the text of one component; names.go and features.go are how
// protoc names things; collide.go refuses names that collide; literal.go is Java's syntax; support.go
// is the support sources.
package java

import (
	"cmp"
	"slices"
	"strings"
	"text/template"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
	javacore "github.com/idem-spec/idem/runtime/java"
	javatemplates "github.com/idem-spec/idem/templates/java"
)

// handshake is the constant of the support class GeneratedCode that says that it has all that generated
// code calls. It changes with the contract between the two, and not with the plugin's version. (PLUG-006)
const handshake = "VERSION_1"

var templates = template.Must(template.New("").ParseFS(javatemplates.Files, "*.tmpl"))

// Emit is the emitter of Java.
func Emit(_ *schema.Set, files []*schema.File, opts emit.Options) ([]emit.File, []schema.Problem) {
	r := newRun(opts)
	r.check(files)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	for _, f := range files {
		for _, m := range f.Messages {
			r.message(m)
		}
		for _, e := range f.Enums {
			r.enum(e)
		}
		if opts.Support && f.DeclaresOptions() {
			r.out = append(r.out, supportFiles(r.support)...)
		}
	}
	return r.out, nil
}

// Check is the problems of Emit, without its work.
func Check(files []*schema.File, opts emit.Options) []schema.Problem {
	r := newRun(opts)
	r.check(files)
	return r.problems
}

func (r *run) check(files []*schema.File) {
	r.checkSupportPackage(files)
	r.checkNames(files)
	for _, f := range files {
		for _, e := range f.Enums {
			r.checkEdges(e)
		}
	}
}

// run is one run of the emitter.
type run struct {
	names namer
	// support is the package of the support classes.
	support  string
	out      []emit.File
	problems []schema.Problem
}

func newRun(opts emit.Options) *run {
	return &run{names: make(namer), support: cmp.Or(opts.SupportPackage, javacore.Package)}
}

func (r *run) problem(d protoreflect.Descriptor, rule, what, mend string) {
	r.problems = append(r.problems, schema.At(d, rule, what, mend))
}

// unit is one compilation unit: what all templates read.
type unit struct {
	Source     string
	Package    string
	Class      string
	Name       string
	Comment    []string
	Deprecated bool
	// UsesDeprecated says that the class names or calls something deprecated, which is as the schema
	// has it: javac need not warn.
	UsesDeprecated bool
	Handshake      string
	Body           string

	support string
	imports map[string]bool
}

func (r *run) unit(d protoreflect.Descriptor, comment string) *unit {
	return &unit{
		Source:    oneLine(d.ParentFile().Path()),
		Package:   javaPackage(d.ParentFile()),
		Class:     idemClass(d),
		Name:      string(d.FullName()),
		Comment:   javadocLines(comment),
		Handshake: handshake,
		support:   r.support,
		imports:   make(map[string]bool),
	}
}

// Own is the name of protoc's class of a message or enum, which is in the package of the unit. Where an
// import could hide it, it is the full one.
func (u *unit) Own(d protoreflect.Descriptor) string {
	name := className(d)
	if first, _, _ := strings.Cut(name, "."); first == "List" || isSupportClass(first) {
		return qualified(u.Package, name)
	}
	return name
}

// Support is the name of a support class. A class of the unnamed package has no full name, so that there
// all others have theirs and nothing is imported.
func (u *unit) Support(class string) string { return u.imported(u.support, class) }

// Util is the name of a class of java.util.
func (u *unit) Util(class string) string { return u.imported("java.util", class) }

// Lang is the name of a class of java.lang, in full: a message of any file of the package may be named
// String.
func (u *unit) Lang(class string) string { return "java.lang." + class }

func (u *unit) imported(pkg, class string) string {
	full := qualified(pkg, class)
	if u.Package == "" {
		return full
	}
	u.imports[full] = true
	return class
}

// Imports are the classes that Support and Util were asked for.
func (u *unit) Imports() []string {
	var all []string
	for name := range u.imports {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// write runs the template of the body, then the one around it.
func (r *run) write(u *unit, name string, view any) {
	u.Body = execute(name, view)
	r.out = append(r.out, emit.File{Name: fileName(u.Package, u.Class), Content: execute("file", u)})
}

func execute(name string, view any) string {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, view); err != nil {
		panic(err) // a template that does not fit its view
	}
	return b.String()
}
