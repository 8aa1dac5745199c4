package changes

import (
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var orders = []*rule{
	{lint.Rule{
		ID: "IDEM_BIZ_KEY_CHANGED", Kind: lint.Change, Category: lint.Order, Severity: lint.Error,
		Purpose: "Checks that a message keeps its biz key, which its order and its partition follow.",
		Spec:    []string{"KEY-013", "HASH-020"},
	}, bizKeyChanged},
	{lint.Rule{
		ID: "IDEM_BIZ_KEY_ADDED", Kind: lint.Change, Category: lint.Order, Severity: lint.Warning,
		Purpose: "Checks that a message without a biz key does not get one.",
		Spec:    []string{"KEY-013", "HASH-020"},
	}, bizKeyAdded},
	{lint.Rule{
		ID: "IDEM_BIZ_KEY_REMOVED", Kind: lint.Change, Category: lint.Order, Severity: lint.Error,
		Purpose: "Checks that a message does not lose its biz key.",
		Spec:    []string{"KEY-013", "HASH-020"},
	}, bizKeyRemoved},
}

// drain is how to change what an order follows.
const drain = "or drain the topic first, since what is in flight and what follows is otherwise in no order, and ignore this with that reason"

func (p *pair) bizKeys() text {
	return text{"biz_key", p.before.BizKey, p.after.BizKey, renderBizKey}
}

func bizKeyChanged(p *pass) {
	for _, m := range p.messages {
		before, after := m.before.BizKey, m.after.BizKey
		if before != nil && after != nil && !same(before, after) {
			p.report(after.Place, m.example(m.bizKeys()), "leave it as it was, "+drain,
				"the biz key of %s changes from %q to %q: its messages move to other partitions, and overtake those in flight",
				m.after.Desc.FullName(), before.Text, after.Text)
		}
	}
}

func bizKeyAdded(p *pass) {
	for _, m := range p.messages {
		if after := m.after.BizKey; m.before.BizKey == nil && after != nil {
			p.report(after.Place, m.example(m.bizKeys()), "ignore this with the reason why messages in flight need no order, "+drain,
				"%s has the biz key %q and had none: messages of one biz key are in order only from the first that has it",
				m.after.Desc.FullName(), after.Text)
		}
	}
}

func bizKeyRemoved(p *pass) {
	for _, m := range p.messages {
		if before := m.before.BizKey; before != nil && m.after.BizKey == nil {
			p.report(m.after.Option(schema.BizKeyNumber), m.example(m.bizKeys()), "write it again",
				"%s has the biz key %q no more: its messages have no order, and its Kafka key is null",
				m.after.Desc.FullName(), before.Text)
		}
	}
}
