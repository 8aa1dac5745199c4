package idem

// Transport is a carrier of headers, with names and forms of its own.
type Transport uint8

// The transports. (HDR-040 to HDR-045)
const (
	// Kafka has record headers, and the names of the spec.
	Kafka Transport = iota
	// AMQP is AMQP 0.9.1: the headers table of the basic properties, and the names of the spec.
	AMQP
	// HTTP has Idempotency-Key as a structured-field string, traceparent, tracestate, and Idem-Retry-Count
	// and its like. Names are read without case.
	HTTP
	// CloudEvents has attributes: id, type, time, partitionkey, and retrycount and its like.
	CloudEvents
)

var transportNames = [...]string{Kafka: "kafka", AMQP: "amqp", HTTP: "http", CloudEvents: "cloudevents"}

// String is "kafka", "amqp", "http" or "cloudevents".
func (t Transport) String() string {
	if int(t) < len(transportNames) {
		return transportNames[t]
	}
	return "transport_" + decimalText(int64(t))
}

// ParseTransport is the inverse of String, and false for a name that is none.
func ParseTransport(name string) (Transport, bool) {
	for t, s := range transportNames {
		if s == name {
			return Transport(t), true
		}
	}
	return 0, false
}

// NameOf is the name of a header on the transport: "Idem-Retry-Count".
func (t Transport) NameOf(id HeaderID) string {
	switch t {
	case HTTP:
		return httpNames[id]
	case CloudEvents:
		return cloudEventsNames[id]
	}
	return headerNames[id]
}

// Lookup is the header that a name means on the transport, and false for an unknown one.
func (t Transport) Lookup(name string) (HeaderID, bool) {
	switch t {
	case HTTP:
		return lookupHTTP(name)
	case CloudEvents:
		return lookupCloudEvents(name)
	}
	return lookupPlain(name)
}

// lookupPlain is a switch, which the compiler turns into a search: unlike a map it needs no state.
func lookupPlain(name string) (HeaderID, bool) {
	switch name {
	case "idempotency_key":
		return IdempotencyKey, true
	case "event_id":
		return EventID, true
	case "event_type":
		return EventType, true
	case "biz_key":
		return BizKey, true
	case "topic":
		return Topic, true
	case "produced_at":
		return ProducedAt, true
	case "occurred_at":
		return OccurredAt, true
	case "traceparent":
		return Traceparent, true
	case "tracestate":
		return Tracestate, true
	case "expected_current_state":
		return ExpectedCurrentState, true
	case "idempotency_key_previous":
		return IdempotencyKeyPrevious, true
	case "fingerprint":
		return Fingerprint, true
	case "idem_spec":
		return IdemSpec, true
	case "retry_count":
		return RetryCount, true
	case "max_retry":
		return MaxRetry, true
	case "hold_count":
		return HoldCount, true
	case "max_hold":
		return MaxHold, true
	case "redrive_count":
		return RedriveCount, true
	case "target_scope":
		return TargetScope, true
	case "backoff_base":
		return BackoffBase, true
	case "backoff_jitter":
		return BackoffJitter, true
	case "backoff_max":
		return BackoffMax, true
	case "backoff_schedule":
		return BackoffSchedule, true
	case "retry_interval":
		return RetryInterval, true
	case "next_retry_time":
		return NextRetryTime, true
	case "reject_reason":
		return RejectReason, true
	}
	return 0, false
}
