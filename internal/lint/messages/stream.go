package messages

import (
	"bytes"
	"crypto/sha256"

	"github.com/idem-spec/idem/internal/lint"
	"github.com/idem-spec/idem/internal/lint/messages/seen"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// streamRules are about two messages: their checks are in meet.
var streamRules = []*rule{
	{Rule: lint.Rule{
		ID: "IDEM_KEY_REUSED", Kind: lint.Message, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that messages with one idempotency key have one content.",
		Spec:    []string{"HASH-031", "DEDUP-001"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_KEY_REGENERATED", Kind: lint.Message, Category: lint.Template, Severity: lint.Error,
		Purpose: "Checks that copies of one event have one idempotency key.",
		Spec:    []string{"KEY-020", "HDR-002"},
	}},
	{Rule: lint.Rule{
		ID: "IDEM_KEY_REROUTED", Kind: lint.Message, Category: lint.Order, Severity: lint.Error,
		Purpose: "Checks that messages with one idempotency key have one biz key.",
		Spec:    []string{"HASH-020"},
	}},
}

// The rules of stream.go, by the names that meet has for them.
var (
	keyReused      = &streamRules[0].Rule
	keyRegenerated = &streamRules[1].Rule
	keyRerouted    = &streamRules[2].Rule
)

// identify appends what other messages may have in common with this one.
func (p *pass) identify(dst []byte) []byte {
	r := seen.Record{Kind: seen.Key, Source: p.source.ID, Number: p.message.Number, Seq: p.seq}
	if header, there := p.header(idem.IdempotencyKey); there {
		r.ID = raw(header)
	} else if t := p.text(ofKey); t.there && (p.has&headers == 0 || !p.faulty(idem.IdempotencyKey)) {
		r.ID = t.text
	} else {
		return dst
	}
	if biz, _ := p.bizKey(); biz != "" {
		r.With = raw(biz)
	}
	p.fingerprint(&r)
	dst = p.table.Append(dst, &r)
	if p.has&headers == 0 {
		return dst
	}
	r = seen.Record{Kind: seen.Event, With: r.ID, Source: r.Source, Number: r.Number, Seq: r.Seq}
	if id, there := p.header(idem.EventID); there {
		r.ID = p.ofType(id)
		dst = p.table.Append(dst, &r)
	}
	// The key of a known type is a function of the payload; of another it may have a source of its own.
	if len(p.message.Payload) > 0 && p.event != nil {
		r.Kind, r.ID = seen.Payload, p.payloadDigest()
		dst = p.table.Append(dst, &r)
	}
	return dst
}

// ofType is an identity among messages of the event type.
func (p *pass) ofType(id string) []byte {
	p.identity = append(append(append(p.identity[:0], id...), 0), p.envelope.EventType...)
	return p.identity
}

// payloadDigest is one of the event type and the payload.
func (p *pass) payloadDigest() []byte {
	h := sha256.New()
	h.Write(p.ofType(""))
	h.Write(p.message.Payload)
	p.identity = h.Sum(p.identity[:0])
	return p.identity
}

// fingerprint is the header's, else what the payload gives. A redrive of a repaired payload has none.
func (p *pass) fingerprint(r *seen.Record) {
	if header, there := p.header(idem.Fingerprint); there {
		r.HasPrint = copy(r.Fingerprint[:], header) > 0
	} else if t := p.text(ofFingerprint); t.there && (p.has&headers == 0 || p.envelope.RedriveCount == 0) {
		r.HasPrint = copy(r.Fingerprint[:], t.text) > 0
	}
}

// meet compares two messages that have something in common.
func (c *collector) meet(first, again *seen.Record) {
	where := c.place(first)
	if first.Kind != seen.Key {
		if bytes.Equal(first.With, again.With) {
			return
		}
		id, _, _ := bytes.Cut(again.ID, []byte{0})
		what := "the event of the event_id " + cut(string(id))
		if first.Kind == seen.Payload {
			what = "the same event, by its type and all bytes of its payload,"
		}
		c.summary.Regenerated++
		c.found(keyRegenerated, again, what+" has another idempotency key than at "+where,
			"compute the key once, in the producer, and pass the header through untouched; a retry and a redrive keep it")
		return
	}
	if first.HasPrint && again.HasPrint && idem.FingerprintsDiffer(string(first.Fingerprint[:]), string(again.Fingerprint[:])) {
		c.summary.Conflicting++
		c.found(keyReused, again, "the idempotency key is that of the message at "+where+", whose content has another fingerprint",
			"let the key name a field that tells the two events apart; consumers dead-letter the second as KEY_REUSED")
	}
	if first.With != nil && again.With != nil && !bytes.Equal(first.With, again.With) {
		c.found(keyRerouted, again, "the idempotency key is that of the message at "+where+", which has another biz key",
			"let the biz key be of the event, and not of its delivery: copies in two partitions are handled in no order")
	}
	if !first.HasPrint {
		first.HasPrint, first.Fingerprint = again.HasPrint, again.Fingerprint
	}
}
