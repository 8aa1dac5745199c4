package idem

// Envelope is what the headers of a message say, once they are read and checked. A field means something
// only where Present has its header; a count that is absent is 0 all the same.
type Envelope struct {
	// Present is the headers that are there and sound.
	Present HeaderSet
	// Warnings is the context headers that were faulty and left out.
	Warnings HeaderSet
	// Unknown is all other headers as they came, nulls too. The values are not copied.
	Unknown Headers

	IdempotencyKey         string
	EventID                string
	EventType              string
	BizKey                 string
	Topic                  string
	ProducedAt             string // as in HDR-003
	OccurredAt             string // as in HDR-003
	Traceparent            string
	Tracestate             string
	ExpectedCurrentState   string // may be present and ""
	IdempotencyKeyPrevious string
	Fingerprint            string
	TargetScope            string
	NextRetryTime          string // as in HDR-003
	RejectReason           string

	IdemSpec        int32
	RetryCount      int32
	MaxRetry        int32
	HoldCount       int32
	MaxHold         int32
	RedriveCount    int32
	BackoffBase     int32 // seconds
	BackoffJitter   int32 // milliseconds
	BackoffMax      int32 // seconds
	RetryInterval   int32 // milliseconds
	BackoffSchedule []int32
}

// Policy is what the headers state of a policy, for ResolvePolicy. It points into e.
func (e *Envelope) Policy() PartialPolicy {
	var p PartialPolicy
	if e.Present.Has(MaxRetry) {
		p.MaxRetry = &e.MaxRetry
	}
	if e.Present.Has(MaxHold) {
		p.MaxHold = &e.MaxHold
	}
	if e.Present.Has(BackoffBase) {
		p.BackoffBase = &e.BackoffBase
	}
	if e.Present.Has(BackoffJitter) {
		p.BackoffJitter = &e.BackoffJitter
	}
	if e.Present.Has(BackoffMax) {
		p.BackoffMax = &e.BackoffMax
	}
	p.BackoffSchedule = e.BackoffSchedule
	return p
}

// Position is retry_count + hold_count: how far along the message is. (DEDUP-004)
func (e *Envelope) Position() int64 { return int64(e.RetryCount) + int64(e.HoldCount) }

// AppendText appends the text of a header, as it was read; false where it is absent.
func (e *Envelope) AppendText(dst []byte, id HeaderID) ([]byte, bool) {
	if !e.Present.Has(id) {
		return dst, false
	}
	if text := e.text(id); text != nil {
		return append(dst, *text...), true
	}
	if number := e.number(id); number != nil {
		return AppendInt(dst, int64(*number)), true
	}
	return appendSchedule(dst, e.BackoffSchedule), true
}

// text is the field of a header that is text, else nil.
func (e *Envelope) text(id HeaderID) *string {
	switch id {
	case IdempotencyKey:
		return &e.IdempotencyKey
	case EventID:
		return &e.EventID
	case EventType:
		return &e.EventType
	case BizKey:
		return &e.BizKey
	case Topic:
		return &e.Topic
	case ProducedAt:
		return &e.ProducedAt
	case OccurredAt:
		return &e.OccurredAt
	case Traceparent:
		return &e.Traceparent
	case Tracestate:
		return &e.Tracestate
	case ExpectedCurrentState:
		return &e.ExpectedCurrentState
	case IdempotencyKeyPrevious:
		return &e.IdempotencyKeyPrevious
	case Fingerprint:
		return &e.Fingerprint
	case TargetScope:
		return &e.TargetScope
	case NextRetryTime:
		return &e.NextRetryTime
	case RejectReason:
		return &e.RejectReason
	}
	return nil
}

// number is the field of a header that is one integer, else nil.
func (e *Envelope) number(id HeaderID) *int32 {
	switch id {
	case IdemSpec:
		return &e.IdemSpec
	case RetryCount:
		return &e.RetryCount
	case MaxRetry:
		return &e.MaxRetry
	case HoldCount:
		return &e.HoldCount
	case MaxHold:
		return &e.MaxHold
	case RedriveCount:
		return &e.RedriveCount
	case BackoffBase:
		return &e.BackoffBase
	case BackoffJitter:
		return &e.BackoffJitter
	case BackoffMax:
		return &e.BackoffMax
	case RetryInterval:
		return &e.RetryInterval
	}
	return nil
}

// appendSchedule appends the entries joined by commas.
func appendSchedule(dst []byte, schedule []int32) []byte {
	for i, ms := range schedule {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendInt(dst, int64(ms))
	}
	return dst
}
