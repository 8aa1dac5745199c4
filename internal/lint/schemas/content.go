package schemas

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var contents = []*rule{
	{lint.Rule{
		ID: "IDEM_KEY_AMOUNT", Kind: lint.Schema, Category: lint.Component, Severity: lint.Warning,
		Purpose: "Checks that no key names an amount.",
		Spec:    []string{"HASH-031"},
	}, keyAmount},
	{lint.Rule{
		ID: "IDEM_KEY_FREE_TEXT", Kind: lint.Schema, Category: lint.Component, Severity: lint.Warning,
		Purpose: "Checks that no key names a text that people write, unless as a digest.",
		Spec:    []string{"KEY-011"},
	}, keyFreeText},
	{lint.Rule{
		ID: "IDEM_KEY_PERSONAL_DATA", Kind: lint.Schema, Category: lint.Component, Severity: lint.Warning,
		Purpose: "Checks that a key which everyone may read names no personal data, unless as a digest.",
		Spec:    []string{"OPT-023", "KEY-003"},
		Needs:   []string{"key_readers"},
	}, keyPersonalData},
}

func keyAmount(p *pass) {
	for u := range p.usedInKeys {
		if isAmount(u.component.Kind) {
			p.reportf(u.template.Place, "name it in the fingerprint, where the same key with another amount is KEY_REUSED",
				"%s, an amount: an event that is sent again with another one is taken for another event, and is done twice", u.names())
		}
	}
}

func isAmount(k schema.Kind) bool {
	return k == schema.Money || k == schema.DecimalText || k == schema.DecimalMessage
}

const digestMend = "name an id, or add [(idem.v1.field).digest = DIGEST_SHA256]"

// freeTexts are the last words of names of what people write.
var freeTexts = []string{
	"comment", "comments", "description", "memo", "note", "notes", "reason", "remark", "remarks", "title",
}

func keyFreeText(p *pass) {
	for u := range p.usedInKeys {
		if c := u.component; c.Kind == schema.String && !c.Digest && endsIn(c.Leaf().Name(), freeTexts) {
			p.reportf(u.template.Place, digestMend,
				"%s, a text that people write: with a long one the key is over 1024 bytes, and the message cannot be sent", u.names())
		}
	}
}

// personal are the last words of names of what is about a person.
var personal = []string{
	"billing_address", "birth_date", "birthdate", "birthday", "card_number", "date_of_birth", "email", "email_address",
	"family_name", "first_name", "full_name", "given_name", "home_address", "iban", "ip_address", "last_name", "mobile_number",
	"msisdn", "passport_number", "phone", "phone_number", "postal_address", "shipping_address", "ssn", "street", "street_address",
	"surname", "tax_id",
}

// keyPersonalData looks at all keys that are in headers.
func keyPersonalData(p *pass) {
	for u := range p.used {
		readers := p.facts.Of(u.message.EventType).KeyReaders
		if readers == nil || *readers != "everyone" || u.template == u.message.Fingerprint || u.component.Digest {
			continue
		}
		if name := u.component.Leaf().Name(); name == "address" || endsIn(name, personal) {
			p.reportf(u.template.Place, digestMend,
				"%s, personal data by its name, and the facts say that everyone may read a key", u.names())
		}
	}
}

// endsIn says whether the last words of a name are one of these: customer_email ends in email, and
// reason_code does not end in reason.
func endsIn(name protoreflect.Name, ends []string) bool {
	lower := strings.ToLower(string(name))
	return slices.ContainsFunc(ends, func(end string) bool {
		rest, ok := strings.CutSuffix(lower, end)
		return ok && (rest == "" || strings.HasSuffix(rest, "_"))
	})
}
