package schemas

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

// A message without a biz_key beside others of its package that have one is no fault: it has no order.
var orders = []*rule{
	{lint.Rule{
		ID: "IDEM_BIZ_KEY_MISSING", Kind: lint.Schema, Category: lint.Order, Severity: lint.Warning,
		Purpose: "Checks that a message with a transition has a biz_key.",
		Spec:    []string{"HASH-020", "STATE-005"},
	}, bizKeyMissing},
	{lint.Rule{
		ID: "IDEM_BIZ_KEY_DIFFERS", Kind: lint.Schema, Category: lint.Order, Severity: lint.Warning,
		Purpose: "Checks that the messages of one state machine have biz_keys of one shape.",
		Spec:    []string{"HASH-020", "KEY-013"},
	}, bizKeyDiffers},
	{lint.Rule{
		ID: "IDEM_BIZ_KEY_IS_KEY", Kind: lint.Schema, Category: lint.Order, Severity: lint.Error,
		Purpose: "Checks that a biz_key is more than one message's.",
		Spec:    []string{"HASH-020"},
	}, bizKeyIsKey},
	{lint.Rule{
		ID: "IDEM_BIZ_KEY_TIME", Kind: lint.Schema, Category: lint.Order, Severity: lint.Warning,
		Purpose: "Checks that a biz_key has no time in it.",
		Spec:    []string{"HASH-020"},
	}, bizKeyTime},
	{lint.Rule{
		ID: "IDEM_BIZ_KEY_COARSE", Kind: lint.Schema, Category: lint.Order, Severity: lint.Warning,
		Purpose: "Checks that a biz_key is more than enums and booleans.",
		Spec:    []string{"HASH-020", "CONS-010"},
	}, bizKeyCoarse},
	{lint.Rule{
		ID: "IDEM_BIZ_KEY_EMPTY", Kind: lint.Schema, Category: lint.Order, Severity: lint.Error,
		Purpose: "Checks that a biz_key which may be missing is not empty then.",
		Spec:    []string{"KEY-013", "KEY-005"},
	}, bizKeyEmpty},
}

func bizKeyMissing(p *pass) {
	for m := range p.messages {
		if m.Transition != nil && m.Options.BizKey == nil {
			p.reportf(m.Option(), `add biz_key: "{…}", the id of the object whose state it is`,
				"%s makes a transition and has no biz_key: the messages about one object are in any partition, and come in any order", m.Desc.FullName())
		}
	}
}

func bizKeyDiffers(p *pass) {
	first := make(map[*schema.Enum]*schema.Message)
	for m := range p.messages {
		if m.Transition == nil || m.BizKey == nil {
			continue
		}
		other := first[m.Transition.Enum]
		if other == nil {
			first[m.Transition.Enum] = m
			continue
		}
		if !sameShape(m.BizKey, other.BizKey) {
			p.reportf(m.BizKey.Place, "write both alike: what is ordered is what has one biz_key, byte for byte",
				"the biz_key of %s is %q and that of %s is %q, though both make transitions of %s: one object has two biz_keys",
				m.Desc.FullName(), m.BizKey.Text, other.Desc.FullName(), other.BizKey.Text, m.Transition.Enum.Desc.FullName())
		}
	}
}

// sameShape says whether two templates can give one text for one object. Names do not matter: {order_id} and
// {id} of an order are the same; but the same names in another order are not.
func sameShape(a, b *schema.Template) bool {
	if len(a.Segments) != len(b.Segments) {
		return false
	}
	for i, s := range a.Segments {
		t := b.Segments[i]
		switch {
		case (s.Component == nil) != (t.Component == nil), s.Literal != t.Literal:
			return false
		case s.Component != nil && textOf(s.Component) != textOf(t.Component):
			return false
		}
	}
	namesA, namesB := leaves(a), leaves(b)
	if slices.Equal(namesA, namesB) {
		return true
	}
	slices.Sort(namesA)
	slices.Sort(namesB)
	return !slices.Equal(namesA, namesB)
}

// textOf is the form of a component's text. An id is one, whether it is a string, an integer or a UUID.
func textOf(c *schema.Component) string {
	switch {
	case c.Digest:
		return "digest"
	case c.Kind == schema.Timestamp, c.Kind == schema.TimestampText, c.Kind == schema.TimestampEpoch:
		return "timestamp"
	case c.Kind == schema.Money, c.Kind == schema.Duration, c.Kind == schema.Date, c.Kind == schema.Bool:
		return c.Kind.String()
	}
	return "id"
}

func leaves(t *schema.Template) []protoreflect.Name {
	var names []protoreflect.Name
	for _, c := range components(t) {
		names = append(names, c.Leaf().Name())
	}
	return names
}

func bizKeyIsKey(p *pass) {
	for m := range p.messages {
		if m.BizKey == nil {
			continue
		}
		isType := func(s schema.Segment) bool { return s.Component == nil && s.Literal == m.EventType }
		unnamed := func(c *schema.Component) bool { return !in(c.Leaf(), m.BizKey) }
		if slices.ContainsFunc(m.BizKey.Segments, isType) && !slices.ContainsFunc(components(m.Key), unnamed) {
			p.reportf(m.BizKey.Place, "name the object that the message is about, {order_id}, without the event type; a message without an order has no biz_key",
				"the biz_key of %s has the event type and all that is in the idempotency_key, so that no two messages share it and nothing is ordered", m.Desc.FullName())
		}
	}
}

func bizKeyTime(p *pass) {
	for m := range p.messages {
		for _, c := range components(m.BizKey) {
			if textOf(c) == "timestamp" || c.Kind == schema.Duration {
				p.reportf(m.BizKey.Place, "leave {"+c.Name+"} out: a biz_key names the object, and is the same in all messages about it",
					"the biz_key of %s has {%s}, a %s, so that messages of two moments have no order", m.Desc.FullName(), c.Name, c.Kind)
			}
		}
	}
}

func bizKeyCoarse(p *pass) {
	for m := range p.messages {
		of := components(m.BizKey)
		isCoarse := func(c *schema.Component) bool { return c.Kind == schema.Enum32 || c.Kind == schema.Bool }
		if len(of) == 0 || slices.ContainsFunc(of, func(c *schema.Component) bool { return !isCoarse(c) }) {
			continue
		}
		p.reportf(m.BizKey.Place, "add the id of the object that the message is about",
			"the biz_key of %s is made of enums and booleans alone (%s): all messages of one value are in one partition, and one that fails holds back all of them",
			m.Desc.FullName(), m.BizKey.Text)
	}
}

func bizKeyEmpty(p *pass) {
	for m := range p.messages {
		if m.BizKey == nil || len(m.BizKey.Segments) != 1 {
			continue
		}
		c := m.BizKey.Segments[0].Component
		isText := c != nil && (c.Kind == schema.String || c.Kind == schema.Bytes) && !c.Digest
		if isText && c.AllowMissing && !c.HasPresence {
			p.reportf(m.BizKey.Place, "write missing: MISSING_ERROR on {"+c.Name+"}, make it optional, or put a literal before it",
				"the biz_key of %s is {%s}, which may be missing and is empty then, and an empty biz_key is KEY_EMPTY", m.Desc.FullName(), c.Name)
		}
	}
}
