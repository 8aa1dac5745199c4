package changes

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var classes = []*rule{
	{lint.Rule{
		ID: "IDEM_ERROR_CLASS_CHANGED", Kind: lint.Change, Category: lint.Class, Severity: lint.Error,
		Purpose: "Checks that a value of an error enum keeps its outcome.",
		Spec:    []string{"OPT-043", "CLASS-001"},
	}, classChanged},
	{lint.Rule{
		ID: "IDEM_ERROR_RENUMBERED", Kind: lint.Change, Category: lint.Class, Severity: lint.Error,
		Purpose: "Checks that a value of an error enum keeps its number.",
		Spec:    []string{"OPT-043"},
	}, errorRenumbered},
	{lint.Rule{
		ID: "IDEM_ERROR_REMOVED", Kind: lint.Change, Category: lint.Class, Severity: lint.Error,
		Purpose: "Checks that an error enum keeps its values.",
		Spec:    []string{"OPT-043"},
	}, errorRemoved},
}

// errorEnums are the error enums of Before that are still there, annotated or not.
func (p *pass) errorEnums(yield func(before *schema.Enum, after protoreflect.EnumDescriptor) bool) {
	moved := make(map[*schema.Enum]protoreflect.EnumDescriptor)
	for _, e := range p.enums {
		moved[e.before] = e.after.Desc
	}
	for e := range p.before.annotatedEnums {
		after := moved[e]
		if after == nil {
			after = p.after.enums[e.Desc.FullName()]
		}
		if len(e.Outcomes) > 0 && after != nil && !yield(e, after) {
			return
		}
	}
}

// retryable is the outcome of what nobody classified.
var retryable = idem.OutcomeRetryable.String()

// outcomes are the outcomes of an enum's numbers that have one.
func outcomes(e *schema.Enum) map[protoreflect.EnumNumber]string {
	all := make(map[protoreflect.EnumNumber]string)
	if e != nil {
		for _, o := range e.Outcomes {
			all[o.Value.Number()] = o.Outcome
		}
	}
	return all
}

func outcomeIn(outcomes map[protoreflect.EnumNumber]string, n protoreflect.EnumNumber) string {
	if o, classified := outcomes[n]; classified {
		return o
	}
	return retryable
}

// errorValues visits the numbers of an error enum, each once by its first value: with the value of that
// number now, nil where there is none. A value that has another number now is left to renumbered.
func (p *pass) errorValues(visit func(before, after protoreflect.EnumValueDescriptor, was, is string)) {
	for e, desc := range p.errorEnums {
		was, is := outcomes(e), outcomes(p.after.set.Enum(desc.FullName()))
		seen := make(map[protoreflect.EnumNumber]bool)
		for i := range e.Desc.Values().Len() {
			v := e.Desc.Values().Get(i)
			n := v.Number()
			if named := desc.Values().ByName(v.Name()); seen[n] || named != nil && named.Number() != n {
				continue
			}
			seen[n] = true
			if before, after := outcomeIn(was, n), outcomeIn(is, n); before != after {
				visit(v, desc.Values().ByNumber(n), before, after)
			}
		}
	}
}

func classChanged(p *pass) {
	p.errorValues(func(_, value protoreflect.EnumValueDescriptor, before, after string) {
		if value != nil {
			p.report(schema.Decl(value), change{before, after}, "write OUTCOME_"+before+" again, or add a value for what is new",
				"%s is %s, before %s: services of the two schemas treat one error in two ways", value.FullName(), after, before)
		}
	})
}

func errorRemoved(p *pass) {
	p.errorValues(func(value, now protoreflect.EnumValueDescriptor, before, after string) {
		if now == nil {
			p.report(p.enumNow(value), change{before, after},
				"declare it again: what is in flight, and services that are not deployed yet, have the number",
				"%s is declared no more, so that its number %d is %s, before %s", value.FullName(), value.Number(), after, before)
		}
	})
}

// enumNow is the place of the enum of a value, in After where it has it.
func (p *pass) enumNow(value protoreflect.EnumValueDescriptor) schema.Place {
	for e, desc := range p.errorEnums {
		if e.Desc == value.Parent() {
			return schema.Decl(desc)
		}
	}
	return schema.Decl(value)
}

func errorRenumbered(p *pass) {
	for e, desc := range p.errorEnums {
		for _, v := range renumbered(e.Desc, desc) {
			before, after := v.before.Number(), v.after.Number()
			p.report(schema.Decl(v.after), change{fmt.Sprintf("%s = %d", v.before.Name(), before), fmt.Sprintf("%s = %d", v.after.Name(), after)},
				fmt.Sprintf("give it the number %d again", before),
				"%s has the number %d, before %d: a service of the other schema takes it for another error", v.after.FullName(), after, before)
		}
	}
}
