package changes

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var apis = []*rule{
	{lint.Rule{
		ID: "IDEM_GENERATION_REFUSED", Kind: lint.Change, Category: lint.Name, Severity: lint.Error,
		Purpose: "Checks that what was generated of a message or a state machine still can be.",
		Spec:    []string{"OPT-050"},
	}, generationRefused},
	{lint.Rule{
		ID: "IDEM_MESSAGE_REMOVED", Kind: lint.Change, Category: lint.Name, Severity: lint.Error,
		Purpose: "Checks that an annotated message stays declared.",
		Spec:    []string{"KEY-014", "PLUG-002"},
	}, messageRemoved},
	{lint.Rule{
		ID: "IDEM_MESSAGE_UNANNOTATED", Kind: lint.Change, Category: lint.Name, Severity: lint.Error,
		Purpose: "Checks that an annotated message stays annotated.",
		Spec:    []string{"KEY-022", "PLUG-002"},
	}, messageUnannotated},
	{lint.Rule{
		ID: "IDEM_MESSAGE_ANNOTATED", Kind: lint.Change, Category: lint.Name, Severity: lint.Warning,
		Purpose: "Checks that a message that was sent without a key does not get one unseen.",
		Spec:    []string{"KEY-022", "HDR-020"},
	}, messageAnnotated},
	{lint.Rule{
		ID: "IDEM_MESSAGE_MOVED", Kind: lint.Change, Category: lint.Name, Severity: lint.Warning,
		Purpose: "Checks that an annotated message keeps its full name.",
		Spec:    []string{"PLUG-002", "PLUG-005"},
	}, messageMoved},
	{lint.Rule{
		ID: "IDEM_ENUM_REMOVED", Kind: lint.Change, Category: lint.Name, Severity: lint.Error,
		Purpose: "Checks that a state machine's and an error enum stay declared.",
		Spec:    []string{"PLUG-002"},
	}, enumRemoved},
	{lint.Rule{
		ID: "IDEM_ENUM_MOVED", Kind: lint.Change, Category: lint.Name, Severity: lint.Warning,
		Purpose: "Checks that a state machine's and an error enum keep their full names.",
		Spec:    []string{"PLUG-002", "PLUG-005"},
	}, enumMoved},
	{lint.Rule{
		ID: "IDEM_GO_PACKAGE_CHANGED", Kind: lint.Change, Category: lint.Name, Severity: lint.Warning,
		Purpose: "Checks that generated Go stays in its package.",
		Spec:    []string{"PLUG-004", "PLUG-005"},
	}, goPackageChanged},
	{lint.Rule{
		ID: "IDEM_JAVA_PACKAGE_CHANGED", Kind: lint.Change, Category: lint.Name, Severity: lint.Warning,
		Purpose: "Checks that generated Java stays in its package.",
		Spec:    []string{"PLUG-004", "PLUG-005"},
	}, javaPackageChanged},
	{lint.Rule{
		ID: "IDEM_PYTHON_MODULE_CHANGED", Kind: lint.Change, Category: lint.Name, Severity: lint.Warning,
		Purpose: "Checks that generated Python stays in its module.",
		Spec:    []string{"PLUG-004", "PLUG-005"},
	}, pythonModuleChanged},
}

// place is a file's place in After, where it is there.
func (p *pass) place(f protoreflect.FileDescriptor) schema.Place {
	if after := p.after.files[f.Path()]; after != nil {
		return schema.Decl(after)
	}
	return schema.Decl(f)
}

// generationRefused is about what could be generated and cannot be any more. What is wrong is said by
// `idem lint` too, in the same words.
func generationRefused(p *pass) {
	for m := range p.before.annotated {
		name := m.Desc.FullName()
		desc, after := p.after.messages[name], p.after.set.Message(name)
		if !whole(m) || desc == nil || !schema.Annotated(desc) || after != nil && whole(after) {
			continue
		}
		problem, mend := p.problemOf(desc)
		p.report(schema.Decl(desc), change{key(m), "refused"}, mend, "%s can be generated no more%s", name, problem)
	}
	for e := range p.before.annotatedEnums {
		name := e.Desc.FullName()
		desc, after := p.after.enums[name], p.after.set.Enum(name)
		if e.Machine == nil || desc == nil || !schema.Annotated(desc) || after != nil && after.Machine != nil {
			continue
		}
		problem, mend := p.problemOf(desc)
		p.report(schema.Decl(desc), change{transitions(e), "refused"}, mend, "%s can be generated no more%s", name, problem)
	}
}

// transitions is a state machine in a word.
func transitions(e *schema.Enum) string { return strconv.Itoa(len(e.Machine.Edges)) + " transitions" }

// problemOf is the first problem that names a declaration, or that is in its file.
func (p *pass) problemOf(desc protoreflect.Descriptor) (what, mend string) {
	for _, inFile := range []bool{false, true} {
		for _, problem := range p.after.problems {
			if strings.Contains(problem.What, string(desc.FullName())) || inFile && problem.File == desc.ParentFile().Path() {
				return ": " + problem.What, problem.Mend
			}
		}
	}
	return "", "mend what `idem lint` says"
}

func messageRemoved(p *pass) {
	for m := range p.before.annotated {
		if p.counterpart(m) == nil && p.after.messages[m.Desc.FullName()] == nil && !p.movedAndRefused(m) {
			p.report(p.place(m.Desc.ParentFile()), change{key(m), "no message"},
				"leave it until no producer sends it and none is in flight; then ignore this with that reason",
				"%s with the event type %s is declared no more: consumers cannot decode what is in flight", m.Desc.FullName(), m.EventType)
		}
	}
}

// movedAndRefused says whether there is a message of the event type that generation refuses.
func (p *pass) movedAndRefused(m *schema.Message) bool {
	for other := range p.after.annotated {
		if other.EventType == m.EventType {
			return !whole(other)
		}
	}
	return false
}

func messageUnannotated(p *pass) {
	for m := range p.before.annotated {
		if desc := p.after.messages[m.Desc.FullName()]; desc != nil && !schema.Annotated(desc) {
			p.report(schema.Decl(desc), change{key(m), "no key"}, "write option (idem.v1.message) again",
				"%s has no key any more: consumers refuse what is sent without one, or handle it twice", m.Desc.FullName())
		}
	}
}

func messageAnnotated(p *pass) {
	for m := range p.after.annotated {
		if desc := p.before.messages[m.Desc.FullName()]; desc != nil && !schema.Annotated(desc) && whole(m) {
			p.report(m.Option(), change{"no key", key(m)},
				"have consumers derive the key of what has none (KEY-022) until nothing of it is in flight, and ignore this with that reason",
				"%s has a key and had none: what is in flight is without one", m.Desc.FullName())
		}
	}
}

func messageMoved(p *pass) {
	for _, m := range p.messages {
		if before, after := m.before.Desc.FullName(), m.after.Desc.FullName(); before != after {
			p.report(schema.Decl(m.after.Desc), change{helper(m.before.Desc), helper(m.after.Desc)},
				"call it "+string(before)+" again, or change all callers and ignore this with that reason",
				"%s is now %s: its helpers have other names", before, after)
		}
	}
}

// helper is the name of what is generated for a message or an enum, as Java and Python have it.
func helper(d protoreflect.Descriptor) string {
	name := string(d.Name()) + "Idem"
	for parent := d.Parent(); ; parent = parent.Parent() {
		if _, isFile := parent.(protoreflect.FileDescriptor); isFile || parent == nil {
			return string(d.ParentFile().Package()) + " " + name
		}
		name = string(parent.Name()) + name
	}
}

func enumRemoved(p *pass) {
	paired := make(map[*schema.Enum]bool)
	for _, e := range p.enums {
		paired[e.before] = true
	}
	for e := range p.before.annotatedEnums {
		if !paired[e] && p.after.enums[e.Desc.FullName()] == nil {
			p.report(p.place(e.Desc.ParentFile()), change{helper(e.Desc), "none"}, "declare it again, or change all callers and ignore this with that reason",
				"%s is declared no more, and its helpers are gone", e.Desc.FullName())
		}
	}
}

func enumMoved(p *pass) {
	for _, e := range p.enums {
		if before, after := e.before.Desc.FullName(), e.after.Desc.FullName(); before != after {
			p.report(schema.Decl(e.after.Desc), change{helper(e.before.Desc), helper(e.after.Desc)},
				"call it "+string(before)+" again, or change all callers and ignore this with that reason",
				"%s is now %s: its helpers have other names", before, after)
		}
	}
}

// files visits each file of annotated messages and enums, with each file that they are in now.
func (p *pass) files(visit func(before, after protoreflect.FileDescriptor)) {
	type files struct{ before, after string }
	seen := make(map[files]bool)
	add := func(before, after protoreflect.Descriptor) {
		f := files{before.ParentFile().Path(), after.ParentFile().Path()}
		if !seen[f] {
			seen[f] = true
			visit(before.ParentFile(), after.ParentFile())
		}
	}
	for _, m := range p.messages {
		add(m.before.Desc, m.after.Desc)
	}
	for _, e := range p.enums {
		add(e.before.Desc, e.after.Desc)
	}
}

// The numbers of FileOptions.
const (
	javaPackageNumber = 1
	goPackage         = 11
)

func fileOptions(f protoreflect.FileDescriptor) *descriptorpb.FileOptions {
	options, _ := f.Options().(*descriptorpb.FileOptions)
	return options
}

// goPackageChanged leaves a file alone that had no package: nothing was generated of it.
func goPackageChanged(p *pass) {
	p.files(func(before, after protoreflect.FileDescriptor) {
		was, is := fileOptions(before).GetGoPackage(), fileOptions(after).GetGoPackage()
		if was != "" && was != is {
			p.report(schema.FileOption(after, goPackage), change{was, orNone(is)}, "write "+was+" again, or change all imports and ignore this with that reason",
				"go_package of %s is %s, before %s: generated Go is in another package", after.Path(), orNone(is), was)
		}
	})
}

func javaPackageChanged(p *pass) {
	p.files(func(before, after protoreflect.FileDescriptor) {
		was, is := javaPackage(before), javaPackage(after)
		if was != is {
			p.report(schema.FileOption(after, javaPackageNumber), change{orNone(was), orNone(is)}, "write java_package = \""+was+"\", or change all imports and ignore this with that reason",
				"the Java package of %s is %s, before %s", after.Path(), orNone(is), orNone(was))
		}
	})
}

// javaPackage is java_package, and without one the package of the file.
func javaPackage(f protoreflect.FileDescriptor) string {
	if o := fileOptions(f); o.GetJavaPackage() != "" {
		return o.GetJavaPackage()
	}
	return string(f.Package())
}

func pythonModuleChanged(p *pass) {
	p.files(func(before, after protoreflect.FileDescriptor) {
		if was, is := before.Path(), after.Path(); was != is {
			p.report(schema.Decl(after), change{module(was), module(is)}, "move it back to "+was+", or change all imports and ignore this with that reason",
				"what was in %s is now in %s: generated Python is in another module", was, is)
		}
	})
}

// module is the Python module that is generated of a file.
func module(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(path, ".proto"), "-", "_"), "/", ".") + "_idem"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
