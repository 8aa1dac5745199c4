package schemas

import (
	"strings"

	"github.com/idem-spec/idem/internal/schema"
)

// usedInKeys are the components of idempotency keys.
func (p *pass) usedInKeys(yield func(used) bool) {
	for u := range p.used {
		if u.template == u.message.Key && !yield(u) {
			return
		}
	}
}

// names is how a finding about a component begins: "idempotency_key of shop.v1.Paid names updated_at".
func (u used) names() string {
	option := "idempotency_key"
	switch u.template {
	case u.message.KeyPrevious:
		option = "idempotency_key_previous"
	case u.message.BizKey:
		option = "biz_key"
	case u.message.Fingerprint:
		option = "fingerprint"
	}
	return option + " of " + string(u.message.Desc.FullName()) + " names " + u.component.Name
}

// nameList joins the names of components: "a", "a and b", "a, b and c".
func nameList(all []*schema.Component) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
