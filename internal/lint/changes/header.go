package changes

import (
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var headers = []*rule{
	{lint.Rule{
		ID: "IDEM_OCCURRED_AT_CHANGED", Kind: lint.Change, Category: lint.Header, Severity: lint.Warning,
		Purpose: "Checks that the header occurred_at has the time that it had.",
		Spec:    []string{"HDR-020", "HDR-021"},
	}, occurredAtChanged},
}

func occurredAtChanged(p *pass) {
	for _, m := range p.messages {
		before, after := occurredAt(m.before), occurredAt(m.after)
		if before == nil || same(before, after) {
			continue
		}
		now := "none"
		if after != nil {
			now = after.Text
		}
		p.report(m.after.Option(schema.OccurredAtNumber),
			m.example(text{"occurred_at", before, after, renderOccurredAt}),
			"write it as it was, or ignore this with the reason",
			"occurred_at of %s is %s, before %s: whoever reads the header gets another time, or none", m.after.Desc.FullName(), now, before.Text)
	}
}
