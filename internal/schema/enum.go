package schema

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// errorOutcome is the field number of ErrorOptions.outcome.
const errorOutcome = 1

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
	} else if !mentions(d.Options().ProtoReflect(), extension) {
		b.noStates(d)
	}
	e.Outcomes = b.outcomes(d)
	if e.Machine == nil && len(e.Outcomes) == 0 {
		return nil
	}
	b.set.enums[name] = e
	return e
}

// noStates refuses the texts of states where there is no machine. (OPT-041)
func (b *builder) noStates(d protoreflect.EnumDescriptor) {
	for i := 0; i < d.Values().Len(); i++ {
		if value := d.Values().Get(i); b.stateOption(value) != nil {
			b.problem(at(value, extension), "OPT-041",
				fmt.Sprintf("%s is a state, and %s has no state machine", short(value.Name()), short(d.FullName())),
				"add option (idem.v1.state_machine) = { transition: {from: … to: …} } to the enum, or leave (idem.v1.state) out")
		}
	}
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
		if option.Outcome != nil && option.GetOutcome() == idempb.Outcome_OUTCOME_UNSPECIFIED {
			b.problem(at(value, errorExtension).Below(errorOutcome), "OPT-043",
				fmt.Sprintf("%s has the outcome OUTCOME_UNSPECIFIED, which is none", short(value.Name())),
				"name one, OUTCOME_RETRYABLE or OUTCOME_NON_RETRYABLE, or leave the option out, which is OUTCOME_RETRYABLE")
			continue
		}
		outcome := ValueOutcome{Value: value, Outcome: "RETRYABLE"}
		if option.Outcome != nil {
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
