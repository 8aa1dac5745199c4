// Package python emits Python: beside protoc's x_pb2.py a module x_idem.py, with a class of static and
// class members for each annotated message and enum, and the support sources they call.
//
// The outline: emit.go is a run and its modules; message.go and enum.go are what the templates in
// templates/python show; body.go is the statements that render a template, component.go those of one
// component, expression.go how they are laid out; names.go is how protoc names things and what Python
// makes of it; literal.go is Python's syntax; support.go is the support sources.
package python

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/schema"
	pythoncore "github.com/idem-spec/idem/runtime/python"
	pythontemplates "github.com/idem-spec/idem/templates/python"
)

// contract is what generated code calls of the support sources. It is the CONTRACT of generated.py, and
// changes with what is called, not with the plugin's version. (PLUG-006)
const contract = 1

// lineLength is where a line is broken, if it can be: what ruff and black do unless told otherwise.
const lineLength = 88

var templates = template.Must(template.New("").ParseFS(pythontemplates.Files, "*.tmpl"))

// Emit is the emitter of Python.
func Emit(_ *schema.Set, files []*schema.File, opts emit.Options) ([]emit.File, []schema.Problem) {
	r := newRun(opts)
	r.check(files)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	for _, f := range files {
		if f.Annotated() {
			r.module(f)
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
	for _, f := range files {
		if f.Annotated() && r.checkModule(f) {
			r.checkClasses(f)
		}
	}
}

// run is one run of the emitter.
type run struct {
	// support is the package of the support sources.
	support string
	// modules are the files of the modules so far.
	modules  map[string]*schema.File
	out      []emit.File
	problems []schema.Problem
}

func newRun(opts emit.Options) *run {
	return &run{support: cmp.Or(opts.SupportPackage, pythoncore.Package), modules: make(map[string]*schema.File)}
}

func (r *run) problem(d protoreflect.Descriptor, rule, what, mend string) {
	r.problems = append(r.problems, schema.At(d, rule, what, mend))
}

// module is one output file: what the template "file" shows.
type module struct {
	Source, SourceLiteral string
	Contract              int
	// SupportPackage and ImportSupport name the support sources, and bring them in as idemspec.
	SupportPackage, ImportSupport, SupportHint string
	// Constants are paths whose values no error may show.
	Constants []constant
	Classes   []string

	file *schema.File
	// messages says that a class refers to protoc's module.
	messages bool
	// typing are the names of the module typing that are used.
	typing map[string]bool
}

// constant is a path of the module.
type constant struct{ Name, Path string }

func (r *run) module(f *schema.File) {
	m := &module{
		Source:         oneLine(f.Desc.Path()),
		SourceLiteral:  literal(f.Desc.Path()),
		Contract:       contract,
		SupportPackage: r.support,
		ImportSupport:  importAs(r.support, "idemspec"),
		SupportHint:    supportHint(r.support),
		file:           f,
		typing:         map[string]bool{"Final": true},
	}
	for _, d := range declared(f) {
		switch d := d.schema.(type) {
		case *schema.Message:
			m.message(d)
		case *schema.Enum:
			m.enum(d)
		}
	}
	r.out = append(r.out, emit.File{Name: moduleFile(f.Desc, "_idem"), Content: execute("file", m)})
}

// class is what the classes of messages and enums share.
type class struct {
	Class, Name string
	// Type is the type of the message, or of the enum's values.
	Type    string
	Comment []string
}

// Def begins a method: laid out as the rest of its class.
func (c *class) Def(name, result string, params ...string) string {
	const indent = 4
	all := make([]expression, len(params))
	for i, param := range params {
		all[i] = plain(param)
	}
	return strings.TrimSpace(strings.Join(layout(indent, "def ", call{name, all}, " -> "+result+":"), "\n"))
}

// add runs the template of one class.
func (m *module) add(name string, view any) {
	m.Classes = append(m.Classes, strings.TrimSuffix(execute(name, view), "\n"))
}

// Typing are the names to import from typing.
func (m *module) Typing() string {
	var names []string
	for name := range m.typing {
		names = append(names, name)
	}
	if m.messages {
		names = append(names, "TYPE_CHECKING")
	}
	// Constants come first, then classes: the order of ruff and isort.
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(-cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	return strings.Join(names, ", ")
}

func rank(name string) int {
	if name == strings.ToUpper(name) {
		return 1
	}
	return 0
}

// ImportMessages imports protoc's module, empty where nothing refers to it.
func (m *module) ImportMessages() string {
	if !m.messages {
		return ""
	}
	return importAs(moduleName(m.file.Desc, "_pb2"), "")
}

// LongLines says whether a class has a line that could not be broken. One without a blank, as a template
// in a docstring, is none for ruff.
func (m *module) LongLines() bool {
	return slices.ContainsFunc(m.Classes, func(class string) bool {
		return slices.ContainsFunc(strings.Split(class, "\n"), func(line string) bool {
			return width(line) > lineLength && strings.ContainsRune(strings.TrimSpace(line), ' ')
		})
	})
}

const redactedPrefix = "_REDACTED_"

// redacted is the constant of a path that is redacted.
func (m *module) redacted(path string) string {
	name := redactedPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
	for {
		i := slices.IndexFunc(m.Constants, func(c constant) bool { return c.Name == name })
		if i < 0 {
			m.Constants = append(m.Constants, constant{name, literal(path)})
			return name
		}
		if m.Constants[i].Path == literal(path) {
			return name
		}
		name += "_"
	}
}

// typeOf is the type of a message or enum of the file, and otherwise where the syntax of Python has no
// name for it.
func (m *module) typeOf(d protoreflect.Descriptor, otherwise string) string {
	names := append(strings.Split(moduleName(m.file.Desc, "_pb2"), "."), simpleNames(d)...)
	if slices.ContainsFunc(names, func(name string) bool { return !isPlain(name) }) {
		if otherwise == "Any" {
			m.typing[otherwise] = true
		}
		return otherwise
	}
	m.messages = true
	names = names[len(names)-1-len(simpleNames(d)):]
	return strings.Join(names, ".")
}

// importAs imports a module or package: under its last name, or under another one.
func importAs(name, as string) string {
	pkg, last := "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		pkg, last = name[:i], name[i+1:]
	}
	line := "import " + last
	if pkg != "" {
		line = "from " + pkg + " " + line
	}
	if as != "" && as != last {
		line += " as " + as
	}
	return line
}

// supportHint is what a reader of "No module named idemspec" sees beside the import.
func supportHint(pkg string) string {
	if pkg == pythoncore.Package {
		return "pip install idemspec, or generate with include_imports"
	}
	return "generate with include_imports"
}

func execute(name string, view any) string {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, view); err != nil {
		panic(err) // a template that does not fit its view
	}
	return b.String()
}

// declaration is an annotated message or enum.
type declaration struct {
	desc   protoreflect.Descriptor
	schema any
}

// declared are the annotated messages and enums of a file, in the order of the file.
func declared(f *schema.File) []declaration {
	var all []declaration
	for _, m := range f.Messages {
		all = append(all, declaration{m.Desc, m})
	}
	for _, e := range f.Enums {
		all = append(all, declaration{e.Desc, e})
	}
	locations := f.Desc.SourceLocations()
	slices.SortStableFunc(all, func(a, b declaration) int {
		x, y := locations.ByDescriptor(a.desc), locations.ByDescriptor(b.desc)
		return cmp.Or(cmp.Compare(x.StartLine, y.StartLine), cmp.Compare(x.StartColumn, y.StartColumn))
	})
	return all
}

// checkClasses refuses two classes of one name. (PLUG-005)
func (r *run) checkClasses(f *schema.File) {
	taken := make(map[string]protoreflect.Descriptor)
	for _, d := range declared(f) {
		class := idemClass(d.desc)
		if other := taken[class]; other != nil {
			r.problem(d.desc, "PLUG-005",
				fmt.Sprintf("the Python class of %s would be %s, as that of %s is", d.desc.FullName(), class, other.FullName()),
				"rename one of them")
			continue
		}
		taken[class] = d.desc
	}
}

// checkModule refuses a file whose module another file has, also one that differs in case alone: not
// every file system tells these apart. (PLUG-005)
func (r *run) checkModule(f *schema.File) bool {
	name := moduleFile(f.Desc, "_idem")
	if other := r.modules[strings.ToLower(name)]; other != nil {
		r.problem(f.Desc, "PLUG-005",
			"its Python module would be "+emit.Taken(name, moduleFile(other.Desc, "_idem"), other.Desc.Path()), "rename one of the files")
		return false
	}
	r.modules[strings.ToLower(name)] = f
	return true
}
