package schema

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// enum reads the options of an enum, once; nil where it has none, or where they have a problem.
func (b *builder) enum(d protoreflect.EnumDescriptor) *Enum {
	name := d.FullName()
	if b.built[name] {
		return b.set.enums[name]
	}
	b.built[name] = true
	e := &Enum{Desc: d}
	if o := b.machineOption(d); o != nil {
		e.Comment = at(d, extension).exactly().LeadingComments
		e.Machine = b.machine(d, o)
	}
	e.Outcomes = b.outcomes(d)
	if e.Machine == nil && len(e.Outcomes) == 0 {
		return nil
	}
	b.set.enums[name] = e
	return e
}

// outcomes reads the values of an error enum. (OPT-043)
func (b *builder) outcomes(d protoreflect.EnumDescriptor) []ValueOutcome {
	var outcomes []ValueOutcome
	first := make(map[protoreflect.EnumNumber]ValueOutcome)
	for i := 0; i < d.Values().Len(); i++ {
		value := d.Values().Get(i)
		option := b.errorOption(value)
		if option == nil {
			continue
		}
		outcome := ValueOutcome{Value: value, Outcome: "RETRYABLE"}
		if option.GetOutcome() != idempb.Outcome_OUTCOME_UNSPECIFIED {
			outcome.Outcome = strings.TrimPrefix(option.GetOutcome().String(), "OUTCOME_")
		}
		other, alias := first[value.Number()]
		if !alias {
			first[value.Number()] = outcome
			outcomes = append(outcomes, outcome)
			continue
		}
		if other.Outcome != outcome.Outcome {
			b.problem(at(value, errorExtension), "OPT-043",
				fmt.Sprintf("%s is an alias of %s and has the outcome %s where that has %s",
					short(value.Name()), short(other.Value.Name()), outcome.Outcome, other.Outcome),
				"give both the same: they are one number")
		}
	}
	return outcomes
}
