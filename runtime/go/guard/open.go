package guard

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// The words in front of the reject_reason of what is MALFORMED.
const (
	CodeHeaders    = "BAD_HEADERS"       // a header of the spec is faulty
	CodeMissingKey = "MISSING_KEY"       // no idempotency_key, on a route that rejects such messages
	CodeBadKey     = "BAD_KEY"           // the key that was derived is none, or could not be derived
	CodeTooLarge   = "MESSAGE_TOO_LARGE" // the payload is over Rules.MaxBytes
)

// noRules are those of deliveries that end before they have a route.
var noRules Rules

// Open is Parse and Route: what a delivery is, by its headers and the rules of its route. It does no I/O. After
// it, d is Opened, Ended or Skipped. m and r have to stay as they are until d is settled.
func (g *Guard) Open(d *Delivery, m *broker.Message, r *Rules) {
	g.Parse(d, m)
	g.Route(d, r)
}

// Parse reads the headers of a message into d, for callers that choose the route by Envelope.EventType and call
// Route then. Faulty headers end it as MALFORMED (HDR-016), and a target_scope of another scope skips it.
func (g *Guard) Parse(d *Delivery, m *broker.Message) {
	d.Again()
	d.Message, d.Rules, d.Received = m, &noRules, g.c.Now()
	d.Key, d.BizKey, d.Lane = "", "", store.Lane{}
	// The topic header says the same on one cluster. A mirrored topic may have another name than its messages
	// say, and a consumer reads the retry topic of the one that it reads.
	d.Origin = m.Topic
	if origin, ok := broker.OriginOf(m.Topic, g.c.Scope); ok {
		d.Origin = origin
	}
	d.Policy, d.Counts = idem.DefaultPolicy(), idem.Counts{}
	d.produced = m.Time
	if err := d.Envelope.Parse(idem.Kafka, m.Headers); err != nil {
		d.Envelope = idem.Envelope{}
		d.end(idem.OutcomeMalformed, CodeHeaders, err)
		return
	}
	e := &d.Envelope
	if e.Present.Has(idem.TargetScope) && e.TargetScope != g.c.Scope {
		d.Status = Skipped
		return
	}
	d.Key = e.IdempotencyKey
	d.Counts = idem.Counts{Retry: e.RetryCount, Hold: e.HoldCount}
	if e.Present.Has(idem.ProducedAt) {
		if t, err := time.Parse(time.RFC3339Nano, e.ProducedAt); err == nil {
			d.produced = t
		}
	}
	switch {
	case e.Present.Has(idem.BizKey):
		d.BizKey = e.BizKey
	case len(m.Key) > 0:
		d.BizKey = bizKeyOf(m.Key)
	}
}

// Route applies the rules of a route to a delivery that Parse has opened: size, key, policy, lane. It does
// nothing to one that has ended or is skipped.
func (g *Guard) Route(d *Delivery, r *Rules) {
	d.Rules = r
	if d.Status != Opened {
		return
	}
	if n := len(d.Message.Value); r.MaxBytes > 0 && n > r.MaxBytes {
		d.end(idem.OutcomeMalformed, CodeTooLarge, errors.New(strconv.Itoa(n)+" bytes, the limit is "+strconv.Itoa(r.MaxBytes)))
		return
	}
	if d.Key == "" && !d.takeKey(r) {
		return
	}
	policy, err := idem.ResolvePolicy(d.Envelope.Policy(), r.policy(), g.c.Limits)
	if err == nil { // Rules.Check and New have seen the others' faults, and Parse the headers'
		d.Policy = policy
	}
	if r.Order == Park && g.retryTable && d.Key != "" && d.BizKey != "" {
		d.Lane = store.Lane{Topic: d.Origin, BizKey: d.BizKey}
	}
}

// takeKey finds a key for a message without one, as the route says; false where the delivery ends. (KEY-022)
func (d *Delivery) takeKey(r *Rules) bool {
	switch r.MissingKey {
	case PassThrough:
		return true
	case Derive:
		key, err := derive(r, d.Message)
		if err == nil {
			err = idem.CheckKey(key)
		}
		if err != nil {
			d.end(idem.OutcomeMalformed, CodeBadKey, err)
			return false
		}
		d.Key = key
		return true
	}
	d.end(idem.OutcomeMalformed, CodeMissingKey, errors.New("no idempotency_key header; a route takes such messages by MissingKey Derive or PassThrough"))
	return false
}

// derive computes a key. The function is the user's: a panic on a strange payload is an error.
func derive(r *Rules, m *broker.Message) (key string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	if r.Derive == nil {
		return "", errors.New("the route derives keys, and has no function for it")
	}
	key, err = r.Derive(m)
	return key, sound(err)
}

// end ends a delivery before its handler.
func (d *Delivery) end(o idem.Outcome, code string, err error) {
	d.Status, d.Err = Ended, err
	d.Result = idem.Result{Outcome: o, Reason: code + ": " + err.Error()}
}

// bizKeyOf is the lane of a message without a biz_key header: its key on the broker. One that is no text of the
// spec is named by its hash; two that share one are merely in one lane.
func bizKeyOf(key []byte) string {
	if text := string(key); idem.CheckKey(text) == nil {
		return text
	}
	return string(idem.AppendHash([]byte("hash:"), idem.HashBytes(key)))
}

// column is a text as a database can hold it: one with a NUL is left to the headers.
func column(text string) string {
	if strings.IndexByte(text, 0) >= 0 {
		return ""
	}
	return text
}

// rawText is the value of a header that is there once and is sound enough to be a column of a dead letter whose
// headers are faulty.
func rawText(headers idem.Headers, id idem.HeaderID) string {
	text := ""
	for i := range headers {
		h := &headers[i]
		if h.Name != id.String() || h.Value == nil {
			continue
		}
		v := string(h.Value)
		if text != "" && text != v || !utf8.ValidString(v) || idem.CheckKey(v) != nil {
			return ""
		}
		text = v
	}
	return text
}
