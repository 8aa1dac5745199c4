package messages

import (
	"errors"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages/decode"
	"github.com/idem-spec/idem/internal/lint/messages/input"
	"github.com/idem-spec/idem/internal/lint/messages/seen"
	"github.com/idem-spec/idem/internal/schema"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// pass is one goroutine's run over messages: what is known of the one at hand, and the findings.
type pass struct {
	*checker
	parser  input.Parser
	decoder decode.Decoder

	source  *input.Source
	message *input.Message
	seq     uint64
	has     need
	// envelope is what the headers say. faults are those of them that are wrong, and are left out of it.
	envelope idem.Envelope
	faults   []fault
	kept     idem.Headers
	// event is the message's type, nil where it is not known.
	event *event
	// format is how the payload holds the message, and unreadable why it does not.
	format     Format
	unreadable error
	conflicts  []string // headers that differ from the payload's envelope
	// texts are what the payload gives.
	texts [texts]text
	// table is what records of messages are for; passes only read of it.
	table    *seen.Table
	identity []byte

	rule     *lint.Rule
	findings []finding
}

// finding is a finding and the number of its message in the run.
type finding struct {
	seq uint64
	lint.Finding
}

// fault is a header that is wrong.
type fault struct {
	header idem.HeaderID
	err    error
}

// event is an event type: its message, and what rules ask of that for each message.
type event struct {
	*schema.Message
	plan *decode.Plan
	// templates are those of the plan, as texts have them.
	templates [texts]*decode.Template
	// states are the texts of the states of its machine; nil where it has none.
	states map[string]bool
	policy idem.Policy
	// expects are the headers that a producer writes of it, but those that depend on values.
	expects []idem.HeaderID
	place   []int // of the message in its file
}

// text is what a template gives for the message at hand.
type text struct {
	done, there bool
	text        []byte
	err         error
}

// The texts of a message.
const (
	ofKey = iota
	ofPrevious
	ofBizKey
	ofFingerprint
	ofOccurredAt
	texts
)

// check checks one message.
func (p *pass) check(source *input.Source, m *input.Message, seq uint64) {
	p.source, p.message, p.seq = source, m, seq
	p.event, p.unreadable, p.conflicts = p.fallback, nil, p.conflicts[:0]
	for i := range p.texts {
		p.texts[i].done = false
	}
	p.has = 0
	if source.Log || m.Partition >= 0 {
		p.has |= record
	}
	payload := p.unwrap(m.Payload)
	if m.HasHeaders {
		p.has |= headers
		p.readHeaders()
		if m.Payload == nil && p.envelope.Present == 0 && len(p.faults) == 0 {
			return // a tombstone, which is no event
		}
	}
	if p.event != nil {
		p.has |= known
		if p.unreadable == nil {
			p.decode(payload)
		}
		if p.unreadable == nil {
			p.has |= content
			p.render()
		}
	}
	if p.unreadable != nil {
		p.has |= unreadable
	}
	p.judge()
}

// reject takes a line that is no message.
func (p *pass) reject(source *input.Source, number int64, seq uint64, err error) {
	p.source, p.message, p.seq = source, &input.Message{Number: number}, seq
	p.event, p.unreadable, p.has = nil, err, unreadable
	p.judge()
}

// judge runs the rules that have something to check.
func (p *pass) judge() {
	for _, r := range p.rules[p.has] {
		p.rule = &r.Rule
		r.check(p)
	}
}

// render has the payload give all texts that it can.
func (p *pass) render() {
	if len(p.decoder.Odd) > 0 {
		p.has |= odd
	}
	for of := range texts {
		// A header of its own is all that occurred_at is for.
		if of == ofOccurredAt && p.has&headers == 0 && p.decoder.OccurredAtSound() {
			continue
		}
		if p.text(of).err != nil {
			p.has |= failing
		}
	}
}

// readHeaders reads the headers. A header that is wrong is left out, so that the others are read all the
// same.
func (p *pass) readHeaders() {
	p.faults = p.faults[:0]
	all := p.message.Headers
	err := p.envelope.Parse(idem.Kafka, all)
	for err != nil {
		var e *idem.Error
		if !errors.As(err, &e) {
			break
		}
		id, _ := idem.Kafka.Lookup(e.Field)
		p.faults = append(p.faults, fault{id, err})
		kept := p.kept[:0]
		for _, h := range all {
			if h.Name != e.Field {
				kept = append(kept, h)
			}
		}
		p.kept, all = kept, kept
		err = p.envelope.Parse(idem.Kafka, all)
	}
	if p.envelope.Present.Has(idem.EventType) {
		p.event = p.events[p.envelope.EventType]
	}
}

// faulty says whether a header is there and wrong.
func (p *pass) faulty(id idem.HeaderID) bool {
	for _, f := range p.faults {
		if f.header == id {
			return true
		}
	}
	return p.envelope.Warnings.Has(id)
}

// header is the value of a header; false where it is not there or wrong.
func (p *pass) header(id idem.HeaderID) (string, bool) {
	e := &p.envelope
	if p.has&headers == 0 || !e.Present.Has(id) {
		return "", false
	}
	switch id {
	case idem.IdempotencyKey:
		return e.IdempotencyKey, true
	case idem.IdempotencyKeyPrevious:
		return e.IdempotencyKeyPrevious, true
	case idem.BizKey:
		return e.BizKey, true
	case idem.Fingerprint:
		return e.Fingerprint, true
	case idem.OccurredAt:
		return e.OccurredAt, true
	case idem.ProducedAt:
		return e.ProducedAt, true
	case idem.EventID:
		return e.EventID, true
	}
	return "", false
}

// text is what a template gives; not there where the message has no such template or no value of it.
func (p *pass) text(of int) *text {
	t := &p.texts[of]
	if t.done {
		return t
	}
	t.done, t.there, t.err = true, false, nil
	if p.has&content == 0 {
		return t
	}
	template := p.event.templates[of]
	switch {
	case of == ofOccurredAt:
		if p.event.plan.OccurredAt != nil {
			t.text, t.there, t.err = p.decoder.AppendOccurredAt(t.text[:0])
		}
		return t
	case template == nil:
		return t
	case of == ofFingerprint:
		t.text, t.err = p.decoder.AppendFingerprint(t.text[:0], template)
	case of == ofBizKey:
		t.text, t.err = p.decoder.AppendBizKey(t.text[:0], template)
	default:
		t.text, t.err = p.decoder.AppendKey(t.text[:0], template)
	}
	t.there = t.err == nil
	return t
}

// secret says that a text of the message has a digest of what nobody may see, so that another text in its
// place may be that without the digest.
func (p *pass) secret(of int) bool {
	if p.event == nil {
		return false
	}
	plan := p.event.plan
	secret := func(t *decode.Template) bool { return t != nil && t.Redacted }
	switch of {
	case ofKey, ofPrevious: // each may be in the place of the other
		return secret(plan.Key) || secret(plan.Previous)
	case ofBizKey:
		return secret(plan.BizKey)
	}
	return false
}

// shown is a text as a message has it, for people.
func (p *pass) shown(of int, text string) string {
	if p.secret(of) {
		return "(not shown: a field of it is marked debug_redact)"
	}
	return cut(text)
}

// maxShown is the most bytes of a value that are shown.
const maxShown = 64

// cut quotes a value, and cuts it where it is long.
func cut(s string) string {
	if len(s) <= maxShown {
		return strconv.Quote(s)
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strconv.Quote(s[:end]) + "…"
}

// str reads bytes as a string without a copy, for as long as they do not change.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// raw is the reverse of str: nobody writes to it.
func raw(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
