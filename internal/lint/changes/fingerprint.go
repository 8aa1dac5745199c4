package changes

import (
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/schema"
)

var fingerprints = []*rule{
	{lint.Rule{
		ID: "IDEM_FINGERPRINT_CHANGED", Kind: lint.Change, Category: lint.Template, Severity: lint.Warning,
		Purpose: "Checks that a fingerprint keeps its template.",
		Spec:    []string{"HASH-030", "HASH-031"},
	}, fingerprintChanged},
	{lint.Rule{
		ID: "IDEM_FINGERPRINT_REMOVED", Kind: lint.Change, Category: lint.Template, Severity: lint.Warning,
		Purpose: "Checks that a message keeps its fingerprint.",
		Spec:    []string{"HASH-030", "HASH-031"},
	}, fingerprintRemoved},
}

func (p *pair) fingerprints() text {
	return text{"fingerprint", p.before.Fingerprint, p.after.Fingerprint, renderFingerprint}
}

func fingerprintChanged(p *pass) {
	for _, m := range p.messages {
		before, after := m.before.Fingerprint, m.after.Fingerprint
		if before == nil || after == nil || before.Text == after.Text {
			continue
		}
		p.report(after.Place, m.example(m.fingerprints()),
			"leave it as it was; or ignore this with the reason: no message in flight is refused, since fingerprints of two templates are not compared",
			"the fingerprint of %s changes from %q to %q: what is in flight is not compared with what is sent from now on",
			m.after.Desc.FullName(), before.Text, after.Text)
	}
}

func fingerprintRemoved(p *pass) {
	for _, m := range p.messages {
		if before := m.before.Fingerprint; before != nil && m.after.Fingerprint == nil {
			p.report(m.after.Option(schema.FingerprintNumber), m.example(m.fingerprints()),
				"write it again, or ignore this with the reason",
				"%s has the fingerprint %q no more: a key that is used for another content passes as a duplicate",
				m.after.Desc.FullName(), before.Text)
		}
	}
}
