package idem

// cloudEventsNames is the attribute names, which have no underscore.
var cloudEventsNames = [headerCount]string{
	IdempotencyKey:         "idempotencykey",
	EventID:                "id",
	EventType:              "type",
	BizKey:                 "partitionkey",
	Topic:                  "topic",
	ProducedAt:             "producedat",
	OccurredAt:             "time",
	Traceparent:            "traceparent",
	Tracestate:             "tracestate",
	ExpectedCurrentState:   "expectedcurrentstate",
	IdempotencyKeyPrevious: "idempotencykeyprevious",
	Fingerprint:            "fingerprint",
	IdemSpec:               "idemspec",
	RetryCount:             "retrycount",
	MaxRetry:               "maxretry",
	HoldCount:              "holdcount",
	MaxHold:                "maxhold",
	RedriveCount:           "redrivecount",
	TargetScope:            "targetscope",
	BackoffBase:            "backoffbase",
	BackoffJitter:          "backoffjitter",
	BackoffMax:             "backoffmax",
	BackoffSchedule:        "backoffschedule",
	RetryInterval:          "retryinterval",
	NextRetryTime:          "nextretrytime",
	RejectReason:           "rejectreason",
}

func lookupCloudEvents(name string) (HeaderID, bool) {
	for id, known := range cloudEventsNames {
		if name == known {
			return HeaderID(id), true
		}
	}
	return 0, false
}
