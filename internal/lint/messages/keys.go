package messages

import (
	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var keyRules = []*rule{
	{lint.Rule{
		ID: "IDEM_HEADER_KEY_MISSING", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that a message has an idempotency key.",
		Spec:    []string{"HDR-020", "KEY-022"},
	}, headerKeyMissing, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_KEY_MALFORMED", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that the keys in headers are one byte or more of 21 to 7E.",
		Spec:    []string{"KEY-020", "HDR-013"},
	}, headerKeyMalformed, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_KEY_TOO_LONG", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that the keys in headers have at most 1024 bytes.",
		Spec:    []string{"KEY-020", "HDR-013"},
	}, headerKeyTooLong, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_KEY_DIFFERS", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that the idempotency key in the header is the one that the payload gives.",
		Spec:    []string{"KEY-010", "HDR-020"},
	}, headerKeyDiffers, headers | content},
	{lint.Rule{
		ID: "IDEM_HEADER_KEY_PREVIOUS_DIFFERS", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that the previous key in the header is the one that the payload gives.",
		Spec:    []string{"KEY-030", "HDR-020"},
	}, headerKeyPreviousDiffers, headers | content},
	{lint.Rule{
		ID: "IDEM_HEADER_BIZ_KEY_DIFFERS", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that the biz key in the header is the one that the payload gives.",
		Spec:    []string{"KEY-013", "HDR-020"},
	}, headerBizKeyDiffers, headers | content},
	{lint.Rule{
		ID: "IDEM_HEADER_FINGERPRINT_DIFFERS", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that the fingerprint in the header is the one that the payload gives.",
		Spec:    []string{"HASH-030", "HASH-031", "HDR-020"},
	}, headerFingerprintDiffers, headers | content},
}

func headerKeyMissing(p *pass) {
	if p.envelope.Present.Has(idem.IdempotencyKey) || p.faulty(idem.IdempotencyKey) {
		return
	}
	mend := "write the header idempotency_key, as generated code does"
	if key := p.text(ofKey); key.there {
		mend += ": " + cut(str(key.text))
	}
	p.report("the message has no idempotency_key, and consumers dead-letter it, unless a route derives keys", mend)
}

func headerKeyMalformed(p *pass) {
	p.byCode("write a key as generated code does: it escapes what a key cannot have", idem.CodeKeySyntax)
}

func headerKeyTooLong(p *pass) {
	p.byCode("give the template a digest, or fewer fields", idem.CodeKeyTooLong)
}

// differs reports a header that is not what the payload gives.
func (p *pass) differs(id idem.HeaderID, of int) {
	got, there := p.header(id)
	want := p.text(of)
	if !there || !want.there || got == str(want.text) {
		return
	}
	p.reportf("let generated code write the header, and let no one between change the payload or the key",
		"the header %s is %s, and the payload gives %s", id, p.shown(of, got), cut(string(want.text)))
}

// headerKeyDiffers lets a key of the template before pass: its producer is not yet of the new one.
func headerKeyDiffers(p *pass) {
	got, _ := p.header(idem.IdempotencyKey)
	if before := p.text(ofPrevious); before.there && got == str(before.text) {
		return
	}
	p.differs(idem.IdempotencyKey, ofKey)
}

func headerKeyPreviousDiffers(p *pass) { p.differs(idem.IdempotencyKeyPrevious, ofPrevious) }

func headerBizKeyDiffers(p *pass) { p.differs(idem.BizKey, ofBizKey) }

// headerFingerprintDiffers compares fingerprints of one template alone.
func headerFingerprintDiffers(p *pass) {
	got, there := p.header(idem.Fingerprint)
	want := p.text(ofFingerprint)
	if there && want.there && idem.FingerprintsDiffer(got, str(want.text)) {
		p.differs(idem.Fingerprint, ofFingerprint)
	}
}
