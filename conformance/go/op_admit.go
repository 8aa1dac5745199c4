package main

import "github.com/idem-spec/idem/runtime/go/idem"

func opAdmit(in *object, out *output) error {
	rec := decodeRecord(in)
	delivery := in.child("delivery")
	a := idem.Delivery{
		RedriveCount: delivery.count("redrive_count", 0),
		Position:     delivery.count("position", 0),
		Owner:        in.text("owner"),
		NowMs:        in.count("now_ms", 0),
		LeaseMs:      in.count("lease_ms", 1),
		MaxAttempts:  in.count("max_attempts", 1),
	}
	a.Fingerprint = decodeFingerprint(in)
	in.done(&delivery)
	if !in.ok() {
		return errInput
	}
	writeAdmission(out, idem.Admit(rec, &a))
	return nil
}

// decodeRecord is the record, and nil for a null.
func decodeRecord(in *object) *idem.Record {
	v, ok := in.get("record")
	if ok && v.kind == kindNull {
		return nil
	}
	o, ok := v.object()
	in.bad = in.bad || !ok
	state, known := idem.ParseState(o.text("state"))
	o.bad = o.bad || !known
	rec := &idem.Record{
		State:        state,
		Fence:        o.count("fence", 0),
		Attempts:     o.count("attempts", 0),
		Owner:        o.text("owner"),
		RedriveCount: o.count("redrive_count", 0),
		Position:     o.count("position", 0),
	}
	rec.Fingerprint = decodeFingerprint(&o)
	if state == idem.StateProcessing {
		rec.LeaseUntilMs = o.count("lease_until_ms", 0)
	}
	if state == idem.StateSuccess && o.has("result") {
		rec.Result = o.hex("result")
	}
	in.done(&o)
	return rec
}

// decodeFingerprint is the optional fingerprint, and "" where there is none.
func decodeFingerprint(o *object) string {
	text, there := o.optionalText("fingerprint")
	if there && !idem.IsFingerprint(text) {
		o.bad = true
	}
	return text
}

func writeAdmission(out *output, a idem.Admission) {
	out.text("admission", a.Kind.String())
	switch a.Kind {
	case idem.AdmitProceed:
		out.integer("fence", a.Fence)
		out.integer("attempts", a.Attempts)
		out.integer("lease_until_ms", a.LeaseUntilMs)
		out.name("recovered")
		out.line = idem.AppendBool(out.line, a.Recovered)
	case idem.AdmitDuplicate:
		out.name("result")
		out.line = append(appendHexBytes(append(out.line, '"'), a.Result), '"')
	case idem.AdmitInProgress:
		out.integer("wait_ms", a.WaitMs)
	}
}
