package schemas

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
	optionsproto "github.com/idem-spec/idem/proto/idem/v1"
	"github.com/idem-spec/idem/runtime/go/idem/idempb"
)

// A google.type.DateTime and a TimeOfDay have no text and are refused in templates; elsewhere they harm nobody.
var times = []*rule{
	{lint.Rule{
		ID: "IDEM_EPOCH_UNIT_MISSING", Kind: lint.Schema, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a time which is an integer states its unit where a template names it.",
		Spec:    []string{"TXT-023", "OPT-021"},
	}, epochUnitMissing},
	{lint.Rule{
		ID: "IDEM_EPOCH_UNIT_CONTRADICTED", Kind: lint.Schema, Category: lint.Value, Severity: lint.Error,
		Purpose: "Checks that the unit of a time is the one that its name ends in.",
		Spec:    []string{"TXT-023"},
	}, epochUnitContradicted},
	{lint.Rule{
		ID: "IDEM_TIMESTAMP_OPTION_MISSING", Kind: lint.Schema, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a time in a string is a timestamp and not any text where a template names it.",
		Spec:    []string{"TXT-024"},
	}, timestampOptionMissing},
	{lint.Rule{
		ID: "IDEM_DATE_TEXT", Kind: lint.Schema, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a date which a template names is no string.",
		Spec:    []string{"TXT-040"},
	}, dateText},
	{lint.Rule{
		ID: "IDEM_FRACTION_DIGITS_UNSTATED", Kind: lint.Schema, Category: lint.Value, Severity: lint.Warning,
		Purpose: "Checks that a timestamp or a duration in a template states its fraction digits.",
		Spec:    []string{"TXT-021", "TXT-031", "OPT-021"},
	}, fractionDigitsUnstated},
	{lint.Rule{
		ID: "IDEM_FRACTION_DIGITS_FEW", Kind: lint.Schema, Category: lint.Value, Severity: lint.Error,
		Purpose: "Checks that a timestamp which tells the events of one biz key apart has the digits for their rate.",
		Spec:    []string{"TXT-021"},
		Needs:   []string{"events_per_second_per_biz_key"},
	}, fractionDigitsFew},
}

func epochUnitMissing(p *pass) {
	for u := range p.used {
		d := u.component.Leaf()
		if u.component.Kind != schema.Int || !isTime(d.Name()) {
			continue
		}
		unit := unitOf(d.Name())
		if unit == "" {
			unit = "MS"
		}
		p.reportf(p.place(u), "add [(idem.v1.field).timestamp = {unit: TIME_UNIT_"+unit+" fraction_digits: 3}]",
			"%s is a number in a template, and nothing says what it counts: one producer sends seconds, another milliseconds", d.FullName())
	}
}

func epochUnitContradicted(p *pass) {
	for d := range p.payload {
		o := p.set.FieldOptions(d).GetTimestamp()
		named, stated := unitOf(d.Name()), strings.TrimPrefix(o.GetUnit().String(), "TIME_UNIT_")
		if o.GetUnit() != idempb.TimeUnit_TIME_UNIT_UNSPECIFIED && named != "" && named != stated {
			p.reportf(schema.FieldOption(d), "write unit: TIME_UNIT_"+named+", or give the field another name",
				"%s has the unit TIME_UNIT_%s, and its name says TIME_UNIT_%s", d.FullName(), stated, named)
		}
	}
}

func timestampOptionMissing(p *pass) {
	for u := range p.used {
		if d := u.component.Leaf(); u.component.Kind == schema.String && isTime(d.Name()) {
			p.reportf(p.place(u), "add [(idem.v1.field).timestamp = {fraction_digits: 3}], or make it a google.protobuf.Timestamp",
				"%s is any text in a template, so that 2025-01-01T04:00:00Z and 2025-01-01T04:00:00.000+00:00 are two times", d.FullName())
		}
	}
}

func dateText(p *pass) {
	for u := range p.used {
		if d := u.component.Leaf(); u.component.Kind == schema.String && isDate(d.Name()) {
			p.reportf(p.place(u), "make it a google.type.Date",
				"%s is any text in a template, so that 2025-01-01 and 2025-1-1 are two days", d.FullName())
		}
	}
}

func fractionDigitsUnstated(p *pass) {
	for u := range p.used {
		c := u.component
		option := ""
		switch {
		case c.Kind == schema.Timestamp, c.Kind == schema.TimestampText,
			// Of a coarser unit there is nothing to cut.
			c.Kind == schema.TimestampEpoch && (c.Unit == "us" || c.Unit == "ns"):
			option = "timestamp"
		case c.Kind == schema.Duration:
			option = "duration"
		default:
			continue
		}
		o := p.set.FieldOptions(c.Leaf())
		if o.GetTimestamp() != nil && o.Timestamp.FractionDigits != nil || o.GetDuration() != nil && o.Duration.FractionDigits != nil {
			continue
		}
		f := p.reportf(p.place(u), "add [(idem.v1.field)."+option+" = {fraction_digits: 3}], which is what it has now, or more",
			"%s does not state its fraction digits: 3 are written and further ones cut, and the languages have 3 to 9", c.Leaf().FullName())
		if p.linted(c.Leaf()) && importsOptions(c.Leaf().ParentFile()) {
			p.edit(f, schema.Decl(c.Leaf()), statedDigits(option))
		}
	}
}

func importsOptions(f protoreflect.FileDescriptor) bool {
	for i := range f.Imports().Len() {
		if f.Imports().Get(i).Path() == optionsproto.Path {
			return true
		}
	}
	return false
}

// optionsEnd is the end of a field with options.
var optionsEnd = regexp.MustCompile(`\s*\]\s*;$`)

// statedDigits adds fraction_digits to a field's text, where that is plain enough.
func statedDigits(option string) func(old string) (string, bool) {
	return func(old string) (string, bool) {
		digits := "(idem.v1.field)." + option + " = {fraction_digits: 3}"
		end := optionsEnd.FindStringIndex(old)
		switch {
		case strings.ContainsAny(old, `/"'`) || !strings.HasSuffix(old, ";"):
			return "", false // a comment or a string, with anything in it
		case strings.Contains(old, "."+option) || strings.Contains(old, "(idem.v1.field) "):
			return "", false
		case end != nil:
			return old[:end[0]] + ", " + digits + old[end[0]:], true
		default:
			return strings.TrimSuffix(old, ";") + " [" + digits + "];", true
		}
	}
}

func fractionDigitsFew(p *pass) {
	for m := range p.messages {
		rate := p.facts.Of(m.EventType).EventsPerSecondPerBizKey
		clock := clockOf(m)
		if rate == nil || clock == nil {
			continue
		}
		most := int64(math.Pow10(min(clock.Digits, digitsOf(clock))))
		if *rate <= most {
			continue
		}
		mend := fmt.Sprintf("state fraction_digits: %d or more on %s", digitsFor(*rate), clock.Leaf().FullName())
		if digitsFor(*rate) > digitsOf(clock) {
			mend = "count in a finer unit in " + string(clock.Leaf().FullName())
		}
		texts := "1 text"
		if most > 1 {
			texts = fmt.Sprintf("%d texts", most)
		}
		p.reportf(m.Key.Place, mend+", or name a field that counts the events",
			"the key of %s tells the events of one biz key apart by {%s} alone, which has %s in a second, and the facts say that there are %d events",
			m.Desc.FullName(), clock.Name, texts, *rate)
	}
}

// digitsOf is the most fraction digits that a time has which are not always zero: those of an integer's unit.
func digitsOf(clock *schema.Component) int {
	switch {
	case clock.Kind != schema.TimestampEpoch:
		return 9
	case clock.Unit == "s":
		return 0
	case clock.Unit == "ms":
		return 3
	case clock.Unit == "us":
		return 6
	}
	return 9
}

// digitsFor is the fewest fraction digits that are enough for a rate, at most 9.
func digitsFor(rate int64) int {
	digits := 0
	for most := int64(1); most < rate && digits < 9; most *= 10 {
		digits++
	}
	return digits
}

// clockOf is the timestamp by which alone a key tells the events of one biz key apart, or nil.
func clockOf(m *schema.Message) *schema.Component {
	var clock *schema.Component
	for _, c := range components(m.Key) {
		switch {
		case c.Kind == schema.Timestamp || c.Kind == schema.TimestampText || c.Kind == schema.TimestampEpoch:
			if clock != nil {
				return nil
			}
			clock = c
		case !slices.ContainsFunc(components(m.BizKey), func(b *schema.Component) bool { return b.Name == c.Name }):
			return nil
		}
	}
	if m.BizKey == nil || clock != nil && in(clock.Leaf(), m.BizKey) {
		return nil
	}
	return clock
}
