package schemas

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

// Which outcome is right for an error is not for a schema to know: a NOT_FOUND may be there in a second.
var classes = []*rule{
	{lint.Rule{
		ID: "IDEM_ERROR_UNCLASSIFIED", Kind: lint.Schema, Category: lint.Class, Severity: lint.Warning,
		Purpose: "Checks that each value of an error enum has an outcome.",
		Spec:    []string{"OPT-043", "CLASS-001"},
	}, errorUnclassified},
	{lint.Rule{
		ID: "IDEM_ERROR_UNSET_DONE", Kind: lint.Schema, Category: lint.Class, Severity: lint.Error,
		Purpose: "Checks that an error which nobody set is not acknowledged.",
		Spec:    []string{"OPT-043", "RETRY-020"},
	}, errorUnsetDone},
}

// errorEnums are the enums with at least one outcome, in the order of files and of declaration.
func (p *pass) errorEnums(yield func(*schema.Enum) bool) {
	for _, f := range p.set.Files {
		for _, e := range f.Enums {
			if len(e.Outcomes) > 0 && !yield(e) {
				return
			}
		}
	}
}

func errorUnclassified(p *pass) {
	for e := range p.errorEnums {
		known := map[protoreflect.EnumNumber]bool{0: true} // no error, or one that nobody set
		for _, o := range e.Outcomes {
			known[o.Value.Number()] = true
		}
		for i := range e.Desc.Values().Len() {
			if v := e.Desc.Values().Get(i); !known[v.Number()] {
				known[v.Number()] = true
				p.reportf(schema.Decl(v), "add [(idem.v1.error).outcome = OUTCOME_RETRYABLE], which is what it has now, or what fits",
					"%s of %s has no outcome, and others of the enum do", v.Name(), e.Desc.FullName())
			}
		}
	}
}

// noErrors are the last words of a value 0 that says that there is no error.
var noErrors = []string{"ok", "none", "success", "succeeded"}

func errorUnsetDone(p *pass) {
	for e := range p.errorEnums {
		i := slices.IndexFunc(e.Outcomes, func(o schema.ValueOutcome) bool { return o.Value.Number() == 0 })
		if i < 0 || e.Outcomes[i].Outcome != "OK" && e.Outcomes[i].Outcome != "DUPLICATE" {
			continue
		}
		v := e.Outcomes[i].Value
		if w := words(v.Name()); len(w) > 0 && slices.Contains(noErrors, w[len(w)-1]) {
			continue
		}
		p.reportf(schema.Decl(v), "leave its outcome out, which is RETRYABLE, or name the value …_OK where it says that there is no error",
			"%s, the value 0 of %s, has the outcome %s: a failure whose error nobody set is acknowledged, and the message is lost",
			v.Name(), e.Desc.FullName(), e.Outcomes[i].Outcome)
	}
}
