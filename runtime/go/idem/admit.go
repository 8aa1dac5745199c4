package idem

import "math"

// State is the state of a dedup record.
type State uint8

// The states.
const (
	StateProcessing State = 1 + iota // claimed, under a lease
	StateSuccess                     // its effect is durable
	StateFailed                      // a later delivery is durable
	StateDead                        // its dead letter is durable
)

var stateNames = [...]string{StateProcessing: "PROCESSING", StateSuccess: "SUCCESS", StateFailed: "FAILED", StateDead: "DEAD"}

// String is the state's name in the spec, "PROCESSING".
func (s State) String() string {
	if s > 0 && int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "STATE_" + decimalText(int64(s))
}

// ParseState is the inverse of String, and false for a name that is none.
func ParseState(name string) (State, bool) {
	for s := int(StateProcessing); s < len(stateNames); s++ {
		if stateNames[s] == name {
			return State(s), true
		}
	}
	return 0, false
}

// Record is what a store knows of one (scope, key). All integers are 0 or more.
type Record struct {
	State State
	// Fence grows with each claim; what carries an older one can write nothing.
	Fence int64
	// Attempts is the claims of this life.
	Attempts int64
	// Owner is the random token of the last claim.
	Owner        string
	RedriveCount int64
	// Position is that of the delivery that is durable and still to come. (DEDUP-011)
	Position int64
	// LeaseUntilMs is when the claim of StateProcessing ends, on the store's clock.
	LeaseUntilMs int64
	// Fingerprint is empty where the record has none.
	Fingerprint string
	// Result is what StateSuccess keeps for duplicates; nil or empty where there is none.
	Result []byte
}

// Delivery is one delivery that asks for admission.
type Delivery struct {
	RedriveCount int64
	// Position is retry_count + hold_count. (DEDUP-004)
	Position int64
	// Fingerprint is empty where the message has none.
	Fingerprint string
	// Owner is the token of this claim, the same only when it is asked again because its reply was lost.
	Owner string
	// NowMs is the time on the store's clock, in milliseconds from any epoch.
	NowMs int64
	// LeaseMs is how long a claim holds.
	LeaseMs int64
	// MaxAttempts is MaxAttempts(max_retry).
	MaxAttempts int64
}

// MaxAttempts is the claims that one life of a message has: its retries, the first delivery, and three
// crashes. (DEDUP-006)
func MaxAttempts(maxRetry int32) int64 { return int64(maxRetry) + 4 }

// AdmissionKind says whether a handler may run.
type AdmissionKind uint8

// The kinds of Admit.
const (
	AdmitProceed    AdmissionKind = 1 + iota // run the handler
	AdmitDuplicate                           // done before: Admission.Result
	AdmitKeyReused                           // the same key with another content
	AdmitStale                               // what follows from this delivery is durable or over
	AdmitInProgress                          // another claim is live: Admission.WaitMs
	AdmitCrashLoop                           // its attempts are used up
)

var admissionNames = [...]string{
	AdmitProceed:    "PROCEED",
	AdmitDuplicate:  "DUPLICATE",
	AdmitKeyReused:  "KEY_REUSED",
	AdmitStale:      "STALE",
	AdmitInProgress: "IN_PROGRESS",
	AdmitCrashLoop:  "CRASH_LOOP",
}

// String is the kind's name in the spec, "KEY_REUSED".
func (k AdmissionKind) String() string {
	if k > 0 && int(k) < len(admissionNames) {
		return admissionNames[k]
	}
	return "ADMISSION_" + decimalText(int64(k))
}

// Admission is the answer to a Delivery.
type Admission struct {
	Kind AdmissionKind
	// Fence, Attempts and LeaseUntilMs are the record's once AdmitProceed is written.
	Fence        int64
	Attempts     int64
	LeaseUntilMs int64
	// Recovered says that AdmitProceed takes over a claim that ended without a word.
	Recovered bool
	// Result is the stored result of AdmitDuplicate.
	Result []byte
	// WaitMs is the rest of the other claim's lease, for AdmitInProgress.
	WaitMs int64
}

// Admit says whether a delivery may run, given its record, or nil where there is none. It is pure; what
// it answers is only true while the record is locked, or compared again when it is written.
// (DEDUP-001 to DEDUP-006)
func Admit(rec *Record, a *Delivery) Admission {
	if rec == nil {
		return Admission{Kind: AdmitProceed, Fence: 1, Attempts: 1, LeaseUntilMs: sum(a.NowMs, a.LeaseMs)}
	}
	if FingerprintsDiffer(rec.Fingerprint, a.Fingerprint) {
		return Admission{Kind: AdmitKeyReused}
	}
	if rec.State == StateSuccess {
		return Admission{Kind: AdmitDuplicate, Result: rec.Result}
	}
	if isStale(rec, a) {
		return Admission{Kind: AdmitStale}
	}
	if rec.State == StateProcessing && rec.LeaseUntilMs > a.NowMs {
		if rec.Owner != a.Owner {
			return Admission{Kind: AdmitInProgress, WaitMs: rec.LeaseUntilMs - a.NowMs}
		}
		return Admission{
			Kind: AdmitProceed, Fence: rec.Fence, Attempts: rec.Attempts, LeaseUntilMs: rec.LeaseUntilMs,
		}
	}
	attempts := sum(rec.Attempts, 1)
	if a.RedriveCount > rec.RedriveCount {
		attempts = 1
	} else if rec.Attempts >= a.MaxAttempts {
		return Admission{Kind: AdmitCrashLoop}
	}
	return Admission{
		Kind: AdmitProceed, Fence: sum(rec.Fence, 1), Attempts: attempts, LeaseUntilMs: sum(a.NowMs, a.LeaseMs),
		Recovered: rec.State == StateProcessing,
	}
}

// sum adds integers that are 0 or more, and stays at the largest one: a fence that wrapped around would
// let every older claim write.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// isStale says that what follows from a delivery is durable or over.
func isStale(rec *Record, a *Delivery) bool {
	if a.RedriveCount != rec.RedriveCount {
		return a.RedriveCount < rec.RedriveCount
	}
	return rec.State == StateDead || a.Position < rec.Position
}
