package idem

// Header is one header of a message, under the name and in the form of its transport.
type Header struct {
	Name string
	// Value is the text of the header; nil is a null, which is an absent header. Some clients of Kafka
	// read an empty value as nil too.
	Value []byte
	// Integer says that an AMQP table held an integer, whose base 10 text Value is.
	Integer bool
}

// Headers are in the order of the message. A name may come more than once.
type Headers []Header

// HeaderID is a header of the spec. Their order is that of its table.
type HeaderID uint8

// The headers of the spec. (HDR-002)
const (
	IdempotencyKey HeaderID = iota
	EventID
	EventType
	BizKey
	Topic
	ProducedAt
	OccurredAt
	Traceparent
	Tracestate
	ExpectedCurrentState
	IdempotencyKeyPrevious
	Fingerprint
	IdemSpec
	RetryCount
	MaxRetry
	HoldCount
	MaxHold
	RedriveCount
	TargetScope
	BackoffBase
	BackoffJitter
	BackoffMax
	BackoffSchedule
	RetryInterval
	NextRetryTime
	RejectReason

	headerCount = iota
)

var headerNames = [headerCount]string{
	IdempotencyKey:         "idempotency_key",
	EventID:                "event_id",
	EventType:              "event_type",
	BizKey:                 "biz_key",
	Topic:                  "topic",
	ProducedAt:             "produced_at",
	OccurredAt:             "occurred_at",
	Traceparent:            "traceparent",
	Tracestate:             "tracestate",
	ExpectedCurrentState:   "expected_current_state",
	IdempotencyKeyPrevious: "idempotency_key_previous",
	Fingerprint:            "fingerprint",
	IdemSpec:               "idem_spec",
	RetryCount:             "retry_count",
	MaxRetry:               "max_retry",
	HoldCount:              "hold_count",
	MaxHold:                "max_hold",
	RedriveCount:           "redrive_count",
	TargetScope:            "target_scope",
	BackoffBase:            "backoff_base",
	BackoffJitter:          "backoff_jitter",
	BackoffMax:             "backoff_max",
	BackoffSchedule:        "backoff_schedule",
	RetryInterval:          "retry_interval",
	NextRetryTime:          "next_retry_time",
	RejectReason:           "reject_reason",
}

// String is the header's name on Kafka and AMQP, "idempotency_key".
func (id HeaderID) String() string {
	if id < headerCount {
		return headerNames[id]
	}
	return "header_" + decimalText(int64(id))
}

// HeaderIDs lists all headers of the spec, in the order of its table.
func HeaderIDs() []HeaderID {
	ids := make([]HeaderID, headerCount)
	for i := range ids {
		ids[i] = HeaderID(i)
	}
	return ids
}

// HeaderSet is a set of headers. The zero value is empty.
type HeaderSet uint32

// Has says whether id is in the set.
func (s HeaderSet) Has(id HeaderID) bool { return s>>id&1 == 1 }

// List is the headers of the set in the order of the table, nil where there are none.
func (s HeaderSet) List() []HeaderID {
	var ids []HeaderID
	for id := HeaderID(0); id < headerCount; id++ {
		if s.Has(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *HeaderSet) add(id HeaderID) { *s |= 1 << id }

func setOf(ids ...HeaderID) (s HeaderSet) {
	for _, id := range ids {
		s.add(id)
	}
	return s
}

// The kinds of headers.
var (
	keyHeaders     = setOf(IdempotencyKey, BizKey, IdempotencyKeyPrevious)
	traceHeaders   = setOf(Traceparent, Tracestate)
	contextHeaders = traceHeaders | setOf(EventID, Topic, ProducedAt, OccurredAt, RejectReason)
	integerHeaders = setOf(IdemSpec, RetryCount, MaxRetry, HoldCount, MaxHold, RedriveCount, BackoffBase,
		BackoffJitter, BackoffMax, RetryInterval)
)
