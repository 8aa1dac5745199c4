package messages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var headerRules = []*rule{
	{lint.Rule{
		ID: "IDEM_HEADER_MISSING", Kind: lint.Message, Category: lint.Header, Severity: lint.Warning,
		Purpose: "Checks that a message has the headers that its schema has a producer write.",
		Spec:    []string{"HDR-020", "HDR-021"},
	}, headerMissing, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_MALFORMED", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that headers have their syntax and are in their range.",
		Spec:    []string{"HDR-002", "HDR-003", "HDR-013", "HDR-016"},
	}, headerMalformed, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_CONTEXT_MALFORMED", Kind: lint.Message, Category: lint.Header, Severity: lint.Warning,
		Purpose: "Checks that headers of context, which consumers leave out where they are wrong, are not.",
		Spec:    []string{"HDR-014"},
	}, headerContextMalformed, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_CONFLICT", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that no header is there twice with two values.",
		Spec:    []string{"HDR-012"},
	}, headerConflict, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_ENVELOPE_DIFFERS", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that a message's headers are those of the envelope that is its payload.",
		Spec:    []string{"HDR-046"},
	}, headerEnvelopeDiffers, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_SPEC_VERSION", Kind: lint.Message, Category: lint.Header, Severity: lint.Error,
		Purpose: "Checks that a message is of the spec's major version.",
		Spec:    []string{"HDR-002"},
	}, headerSpecVersion, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_EVENT_TYPE_UNKNOWN", Kind: lint.Message, Category: lint.Header, Severity: lint.Warning,
		Purpose: "Checks that the event type of a message is that of a message of the schema.",
		Spec:    []string{"KEY-014", "CONS-006"},
	}, headerEventTypeUnknown, headers},
	{lint.Rule{
		ID: "IDEM_HEADER_NAME_INEXACT", Kind: lint.Message, Category: lint.Header, Severity: lint.Warning,
		Purpose: "Checks that no header is named almost as one of the spec, which makes it unknown.",
		Spec:    []string{"HDR-001", "HDR-040"},
	}, headerNameInexact, headers},
}

// expected are the headers of HDR-020 that depend on the schema alone.
func expected(e *event) []idem.HeaderID {
	ids := []idem.HeaderID{idem.EventType, idem.IdemSpec}
	for _, h := range []struct {
		id idem.HeaderID
		is bool
	}{
		{idem.BizKey, e.BizKey != nil},
		{idem.Fingerprint, e.Message.Fingerprint != nil},
		{idem.IdempotencyKeyPrevious, e.KeyPrevious != nil},
		{idem.ExpectedCurrentState, e.Transition != nil},
		{idem.MaxRetry, e.Retry != nil},
		{idem.MaxHold, e.Retry != nil},
		{idem.BackoffJitter, e.Retry != nil},
		{idem.BackoffSchedule, e.Retry != nil && len(e.Retry.BackoffScheduleMs) > 0},
		{idem.BackoffBase, e.Retry != nil && len(e.Retry.BackoffScheduleMs) == 0},
		{idem.BackoffMax, e.Retry != nil && len(e.Retry.BackoffScheduleMs) == 0},
	} {
		if h.is {
			ids = append(ids, h.id)
		}
	}
	return ids
}

func headerMissing(p *pass) {
	ids := []idem.HeaderID{idem.EventType, idem.IdemSpec}
	if p.event != nil {
		ids = p.event.expects
	}
	var missing []string
	lacks := func(id idem.HeaderID) bool { return !p.envelope.Present.Has(id) && !p.faulty(id) }
	for _, id := range ids {
		// A redrive of a repaired payload takes the fingerprint off. (HDR-031)
		if lacks(id) && (id != idem.Fingerprint || p.envelope.RedriveCount == 0) {
			missing = append(missing, id.String())
		}
	}
	if lacks(idem.OccurredAt) && p.text(ofOccurredAt).there {
		missing = append(missing, idem.OccurredAt.String())
	}
	if len(missing) > 0 {
		p.reportf("publish with the headers that generated code gives: IdemHeaders in Go, headers in Java and Python",
			"the message lacks the %s %s", plural(len(missing), "header"), strings.Join(missing, ", "))
	}
}

func plural(n int, thing string) string {
	if n == 1 {
		return thing
	}
	return thing + "s"
}

// byCode reports the headers whose fault has one of the codes.
func (p *pass) byCode(mend string, codes ...idem.Code) {
	for _, f := range p.faults {
		if slices.Contains(codes, idem.CodeOf(f.err)) {
			p.report(p.explained(f), mend)
		}
	}
}

// explained is a header's fault in words, without a value that nobody may see.
func (p *pass) explained(f fault) string {
	err := f.err
	if p.secret(ofKey) && (f.header == idem.IdempotencyKey || f.header == idem.IdempotencyKeyPrevious) || p.secret(ofBizKey) && f.header == idem.BizKey {
		err = idem.Redacted(err)
	}
	return "the header " + strings.TrimPrefix(err.Error(), "idem: ")
}

func headerMalformed(p *pass) {
	p.byCode("write it as chapter 6 of the spec has it: consumers dead-letter the message as MALFORMED",
		idem.CodeHeaderSyntax, idem.CodeHeaderRange, idem.CodeHeaderUTF8)
}

func headerContextMalformed(p *pass) {
	for _, id := range p.envelope.Warnings.List() {
		p.reportf("write it as chapter 6 of the spec has it, or leave it out", "the header %s is wrong, and consumers read the message as if it were not there", id)
	}
}

func headerConflict(p *pass) {
	p.byCode("replace a header, and never append one with the same name", idem.CodeHeaderConflict)
}

func headerEnvelopeDiffers(p *pass) {
	for _, name := range p.conflicts {
		p.reportf("write the headers once, in the envelope", "the header %s has another value than the envelope in the payload", cut(name))
	}
}

func headerSpecVersion(p *pass) {
	p.byCode(fmt.Sprintf("this program knows version %d of the spec: use the one that the producer has", idem.SpecMajor), idem.CodeSpecVersion)
}

func headerEventTypeUnknown(p *pass) {
	if name := p.envelope.EventType; p.event == nil && p.envelope.Present.Has(idem.EventType) {
		p.reportf("check the name, or give --schema all schemas that this topic has", "no message of the schema has the event type %s%s", cut(name), lint.DidYouMean(name, p.names))
	}
}

func headerNameInexact(p *pass) {
	for _, h := range p.envelope.Unknown {
		if id, near := likeHeader(h.Name); near {
			p.reportf("name it "+id.String(), "the header %s is no header of the spec, and %s is", cut(h.Name), id)
		}
	}
}

// likeHeader finds the header that a name is but for case, '-' and '_', on Kafka, or on HTTP.
func likeHeader(name string) (idem.HeaderID, bool) {
	var plain [maxShown]byte
	id, near := inexact[string(plainName(plain[:0], name))]
	return id, near
}

// plainName appends a name in lower case without '-' and '_', up to what any name in question has.
func plainName(dst []byte, name string) []byte {
	for i := 0; i < len(name) && len(dst) < maxShown; i++ {
		switch c := name[i]; {
		case c == '-' || c == '_':
		case 'A' <= c && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// inexact are the headers by such names. Names of one word are other headers' too, as in other cases.
var inexact = func() map[string]idem.HeaderID {
	all := map[string]idem.HeaderID{}
	for _, id := range idem.HeaderIDs() {
		if strings.Contains(id.String(), "_") {
			all[string(plainName(nil, id.String()))] = id
			all[string(plainName(nil, idem.HTTP.NameOf(id)))] = id
		}
	}
	return all
}()
