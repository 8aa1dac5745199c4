package main

import (
	"bytes"
	"unicode/utf8"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// pairs is a list of headers as the input has them, and as the core does.
type pairs struct {
	transport idem.Transport
	given     []value
	headers   idem.Headers
}

func decodePairs(in *object) pairs {
	transport, known := idem.ParseTransport(in.text("transport"))
	in.bad = in.bad || !known
	p := pairs{transport: transport, given: in.list("headers")}
	p.headers = make(idem.Headers, len(p.given))
	for i, v := range p.given {
		if v.kind != kindList || len(v.list) != 2 || v.list[0].kind != kindString {
			in.bad = true
			return p
		}
		p.headers[i].Name = v.list[0].text
		if v.list[1].kind == kindNull {
			continue
		}
		o, ok := v.list[1].object()
		in.bad = in.bad || !ok
		h := &p.headers[i]
		switch {
		case o.has("hex"):
			h.Value = o.hex("hex")
		case o.has("int") && transport == idem.AMQP:
			o.integer("int")
			text, _ := o.get("int")
			h.Value, h.Integer = []byte(text.text), true
		default:
			h.Value = []byte(o.text("utf8"))
		}
		if h.Value == nil {
			h.Value = []byte{} // no bytes are no null
		}
		in.done(&o)
	}
	return p
}

func opHeaders(in *object, out *output) error {
	p := decodePairs(in)
	if !in.ok() {
		return errInput
	}
	var e idem.Envelope
	if err := e.Parse(p.transport, p.headers); err != nil {
		return err
	}
	out.name("envelope")
	envelope := output{line: append(out.line, '{')}
	var text []byte
	for _, id := range e.Present.List() {
		text, _ = e.AppendText(text[:0], id)
		envelope.text(id.String(), string(text))
	}
	out.line = append(envelope.line, '}')

	out.name("unknown")
	out.line = append(out.line, '[')
	next := 0
	for i, h := range e.Unknown {
		next = p.writeGiven(out, i > 0, h, next)
	}
	out.line = append(out.line, ']')

	out.name("warnings")
	out.line = append(out.line, '[')
	for i, id := range e.Warnings.List() {
		if i > 0 {
			out.line = append(out.line, ',')
		}
		out.line = appendJSONString(out.line, id.String())
	}
	out.line = append(out.line, ']')
	return nil
}

// writeGiven writes an unknown header in the form in which the input has it, which is at next or behind,
// and returns where to go on.
func (p *pairs) writeGiven(out *output, later bool, h idem.Header, next int) int {
	for i := next; i < len(p.headers); i++ {
		g := p.headers[i]
		if g.Name != h.Name || (g.Value == nil) != (h.Value == nil) || !bytes.Equal(g.Value, h.Value) {
			continue
		}
		v := p.given[i].list[1]
		if v.kind == kindNull {
			writePair(out, later, h.Name, "", "")
		} else {
			writePair(out, later, h.Name, v.members[0].name, v.members[0].value.text)
		}
		return i + 1
	}
	writePair(out, later, h.Name, "hex", string(appendHexBytes(nil, h.Value))) // the core made it up: a wrong answer
	return next
}

// writePair writes [name, {form: text}], or a null where there is no form.
func writePair(out *output, later bool, name, form, text string) {
	if later {
		out.line = append(out.line, ',')
	}
	out.line = appendJSONString(append(out.line, '['), name)
	if form == "" {
		out.line = append(out.line, ",null]"...)
		return
	}
	out.line = appendJSONString(append(out.line, ",{"...), form)
	out.line = appendJSONString(append(out.line, ':'), text)
	out.line = append(out.line, "}]"...)
}

func opNextHeaders(in *object, out *output) error {
	p := decodePairs(in)
	n := decodeNext(in)
	if !in.ok() {
		return errInput
	}
	headers, err := idem.AppendNext(nil, p.transport, p.headers, &n)
	if err != nil {
		return err
	}
	out.name("headers")
	out.line = append(out.line, '[')
	next := 0
	for i, h := range headers {
		if _, known := p.transport.Lookup(h.Name); !known {
			next = p.writeGiven(out, i > 0, h, next)
		} else if utf8.Valid(h.Value) {
			writePair(out, i > 0, h.Name, "utf8", string(h.Value))
		} else {
			writePair(out, i > 0, h.Name, "hex", string(appendHexBytes(nil, h.Value)))
		}
	}
	out.line = append(out.line, ']')
	return nil
}

func decodeNext(in *object) idem.Next {
	n := idem.Next{Scope: in.text("scope"), Topic: in.text("topic"), NowMs: in.count("now_ms", 0)}
	d := in.child("decision")
	n.Action, _ = idem.ParseAction(d.text("action"))
	switch n.Action {
	case idem.ActionRetry, idem.ActionHold, idem.ActionDefer:
		n.DelayMs = d.count("delay_ms", 0)
		n.RetryCount, n.HoldCount = d.count("retry_count", 0), d.count("hold_count", 0)
	case idem.ActionDeadLetter:
		n.RetryCount, n.HoldCount = -1, -1
		if d.has("retry_count") {
			n.RetryCount = d.count("retry_count", 0)
		}
		if d.has("hold_count") {
			n.HoldCount = d.count("hold_count", 0)
		}
	case idem.ActionRedrive:
		n.RedriveCount = d.count("redrive_count", 0)
		if d.has("drop_fingerprint") {
			n.DropFingerprint = true
			d.bad = d.bad || !d.need("drop_fingerprint", kindBool).yes
		}
	default:
		d.bad = true
	}
	if n.Action == idem.ActionRetry || n.Action == idem.ActionHold || n.Action == idem.ActionDeadLetter {
		n.Reason = d.text("reject_reason")
	}
	in.done(&d)
	return n
}
