package schemas

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/idem-spec/idem/internal/gen/emit"
	"github.com/idem-spec/idem/internal/gen/golang"
	"github.com/idem-spec/idem/internal/gen/java"
	"github.com/idem-spec/idem/internal/gen/python"
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var generatedNames = []*rule{
	{lint.Rule{
		ID: "IDEM_FIELD_NAMED_AS_HEADER", Kind: lint.Schema, Category: lint.Name, Severity: lint.Warning,
		Purpose: "Checks that no field has the name of a header, which would hide it.",
		Spec:    []string{"HDR-002"},
	}, fieldNamedAsHeader},
	{lint.Rule{
		ID: "IDEM_NAME_COLLISION", Kind: lint.Schema, Category: lint.Name, Severity: lint.Error,
		Purpose: "Checks that no two names or files of generated code are one.",
		Spec:    []string{"PLUG-005"},
	}, nameCollision},
	{lint.Rule{
		ID: "IDEM_GO_PACKAGE_MISSING", Kind: lint.Schema, Category: lint.Name, Severity: lint.Error,
		Purpose: "Checks that a file has a Go package where others of the schema do.",
		Spec:    []string{"PLUG-004"},
	}, goPackageMissing},
}

// plainWords are headers whose names are words that a payload may well have for something else.
var plainWords = map[string]bool{idem.Topic.String(): true, idem.Fingerprint.String(): true}

func fieldNamedAsHeader(p *pass) {
	headers := make(map[string]bool)
	for _, id := range idem.HeaderIDs() {
		headers[id.String()] = !plainWords[id.String()]
	}
	for m := range p.messages {
		fields := m.Desc.Fields()
		for i := range fields.Len() {
			d := fields.Get(i)
			name := string(d.Name())
			if !headers[name] || isOccurredAt(m, d) || in(d, m.Templates()...) {
				continue // the header is made from the field
			}
			p.reportf(schema.Decl(d), "leave the field out, or name it after what it means here",
				"%s has the name of the header %s, which says something else: some consumers read one, and some the other",
				d.FullName(), name)
		}
	}
}

// isOccurredAt says whether the header occurred_at is made from the field.
func isOccurredAt(m *schema.Message, d protoreflect.FieldDescriptor) bool {
	return m.OccurredAt != nil && m.OccurredAt.Leaf() == d
}

// nameCollision reports what generation refuses, in the languages in which there is some.
func nameCollision(p *pass) {
	files := p.annotated()
	if len(files) == 0 {
		return
	}
	var problems []schema.Problem
	if p.facts.Generates("go") {
		problems = append(problems, p.goCollisions()...)
	}
	if p.facts.Generates("java") {
		problems = append(problems, java.Check(files, emit.Options{})...)
	}
	if p.facts.Generates("python") {
		problems = append(problems, python.Check(files, emit.Options{})...)
	}
	for _, problem := range problems {
		p.findings = append(p.findings, lint.Of(p.rule, problem))
	}
}

// annotated are the files with something to generate.
func (p *pass) annotated() []*schema.File {
	var files []*schema.File
	for _, f := range p.set.Files {
		if f.Annotated() {
			files = append(files, f)
		}
	}
	return files
}

// goPackageMissing asks for a go_package where another file has one. Where none has, it comes from buf's
// managed mode, or there is no Go.
func goPackageMissing(p *pass) {
	files := p.annotated()
	stated := false
	for _, f := range files {
		stated = stated || goPackage(f.Desc) != ""
	}
	if !stated || !p.facts.Generates("go") {
		return
	}
	for _, f := range files {
		if what, mend := golang.CheckPackage(goPackage(f.Desc), false); what != "" {
			p.report(schema.Decl(f.Desc), what, mend)
		}
	}
}

func goPackage(f protoreflect.FileDescriptor) string {
	o, _ := f.Options().(*descriptorpb.FileOptions)
	return o.GetGoPackage()
}
