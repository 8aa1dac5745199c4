package idem

// The defaults and bounds of a policy. (RETRY-001, RETRY-004)
const (
	DefaultMaxRetry      = 5
	DefaultMaxHold       = 20
	DefaultBackoffBase   = 1    // seconds
	DefaultBackoffJitter = 1000 // milliseconds
	DefaultBackoffMax    = 300  // seconds

	maxRetries       = 100
	maxBackoffBase   = 86400     // seconds
	maxJitter        = 3600000   // milliseconds
	maxBackoffMax    = 604800    // seconds
	maxScheduleDelay = 604800000 // milliseconds
	maxScheduleLen   = 32
)

// Policy says how often and how late a message is tried again. The zero value is not valid: start
// from DefaultPolicy.
type Policy struct {
	// MaxRetry is the retries allowed after the first delivery, 0 to 100.
	MaxRetry int32
	// MaxHold is the holds allowed for a message that is out of order, 0 to 100.
	MaxHold int32
	// BackoffBase is the base of the exponential backoff in seconds, 1 to 86400.
	BackoffBase int32
	// BackoffJitter is the largest jitter in milliseconds, 0 to 3600000.
	BackoffJitter int32
	// BackoffMax is the cap of the exponential part in seconds, 1 to 604800.
	BackoffMax int32
	// BackoffSchedule is explicit delays in milliseconds in place of base and cap: at most 32, each 0
	// to 604800000; the last one repeats. Empty is none.
	BackoffSchedule []int32
}

// PartialPolicy is a policy of which only some values are stated: those that are not nil. Units and
// bounds are those of Policy.
type PartialPolicy struct {
	MaxRetry        *int32
	MaxHold         *int32
	BackoffBase     *int32
	BackoffJitter   *int32
	BackoffMax      *int32
	BackoffSchedule []int32
}

// DefaultPolicy is 5 retries and 20 holds, with a backoff of 1 s that doubles up to 300 s, and up to
// a second of jitter.
func DefaultPolicy() Policy {
	return Policy{
		MaxRetry:      DefaultMaxRetry,
		MaxHold:       DefaultMaxHold,
		BackoffBase:   DefaultBackoffBase,
		BackoffJitter: DefaultBackoffJitter,
		BackoffMax:    DefaultBackoffMax,
	}
}

// Check returns CodePolicyRange where a value is out of its bounds, and names it in the error's
// Field.
func (p *Policy) Check() error {
	if err := inBounds("max_retry", p.MaxRetry, 0, maxRetries); err != nil {
		return err
	}
	if err := inBounds("max_hold", p.MaxHold, 0, maxRetries); err != nil {
		return err
	}
	return p.checkBackoff()
}

// checkBackoff leaves out the values that Backoff does not use.
func (p *Policy) checkBackoff() error {
	if err := inBounds("backoff_base", p.BackoffBase, 1, maxBackoffBase); err != nil {
		return err
	}
	if err := inBounds("backoff_jitter", p.BackoffJitter, 0, maxJitter); err != nil {
		return err
	}
	if err := inBounds("backoff_max", p.BackoffMax, 1, maxBackoffMax); err != nil {
		return err
	}
	if len(p.BackoffSchedule) > maxScheduleLen {
		return &Error{Code: CodePolicyRange, Field: "backoff_schedule", Offset: noOffset, Detail: "over 32 entries"}
	}
	for _, ms := range p.BackoffSchedule {
		if err := inBounds("backoff_schedule", ms, 0, maxScheduleDelay); err != nil {
			return err
		}
	}
	return nil
}

// Over is p with the values that it does not state taken from base.
func (p *PartialPolicy) Over(base Policy) Policy {
	override(&base.MaxRetry, p.MaxRetry)
	override(&base.MaxHold, p.MaxHold)
	override(&base.BackoffBase, p.BackoffBase)
	override(&base.BackoffJitter, p.BackoffJitter)
	override(&base.BackoffMax, p.BackoffMax)
	if len(p.BackoffSchedule) > 0 {
		base.BackoffSchedule = p.BackoffSchedule
	}
	return base
}

// ResolvePolicy is the policy in force for a message: what its headers state (Envelope.Policy), else
// what its schema says, with defaults filled in (the IdemPolicy of generated code, or
// DefaultPolicy); then each value at most the consumer's limit, where it has one, and the entries of
// a schedule at most limit.BackoffMax seconds. A header with a base or a cap and no schedule puts
// the schema's schedule out of force. Values of any of the three that are out of their bounds are
// CodePolicyRange. The schedule may share memory with the arguments. (RETRY-001 to RETRY-004)
func ResolvePolicy(header PartialPolicy, schema Policy, limit PartialPolicy) (Policy, error) {
	if err := schema.Check(); err != nil {
		return Policy{}, err
	}
	// Stated values beside defaults are out of bounds only where the stated ones are.
	highest := limit.Over(DefaultPolicy())
	highest.BackoffSchedule = nil
	if err := highest.Check(); err != nil {
		return Policy{}, err
	}
	if header.BackoffBase != nil || header.BackoffMax != nil {
		schema.BackoffSchedule = nil
	}
	p := header.Over(schema)
	if err := p.Check(); err != nil {
		return Policy{}, err
	}
	clamp(&p.MaxRetry, limit.MaxRetry)
	clamp(&p.MaxHold, limit.MaxHold)
	clamp(&p.BackoffBase, limit.BackoffBase)
	clamp(&p.BackoffJitter, limit.BackoffJitter)
	clamp(&p.BackoffMax, limit.BackoffMax)
	if limit.BackoffMax != nil {
		p.BackoffSchedule = clampSchedule(p.BackoffSchedule, *limit.BackoffMax*1000)
	}
	return p, nil
}

// clampSchedule copies the schedule only where an entry is over the limit.
func clampSchedule(schedule []int32, limit int32) []int32 {
	var clamped []int32
	for i, ms := range schedule {
		if ms <= limit {
			continue
		}
		if clamped == nil {
			clamped = append(clamped, schedule...)
		}
		clamped[i] = limit
	}
	if clamped == nil {
		return schedule
	}
	return clamped
}

func override(value, by *int32) {
	if by != nil {
		*value = *by
	}
}

func clamp(value, limit *int32) {
	if limit != nil && *value > *limit {
		*value = *limit
	}
}

func inBounds(name string, v, low, high int32) error {
	if v < low || v > high {
		return &Error{
			Code: CodePolicyRange, Field: name, Offset: noOffset,
			Detail: "the bounds are " + decimalText(int64(low)) + " to " + decimalText(int64(high)),
			Value:  decimalText(int64(v)),
		}
	}
	return nil
}

func decimalText(v int64) string { return string(AppendInt(nil, v)) }
