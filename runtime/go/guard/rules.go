package guard

import (
	"fmt"
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// MissingKey says what becomes of a message without an idempotency_key header. (KEY-022)
type MissingKey uint8

// The choices.
const (
	// Reject dead-letters it as MALFORMED.
	Reject MissingKey = iota
	// Derive has Rules.Derive compute the key from the payload.
	Derive
	// PassThrough runs it without dedup. It backs off by topic/partition/offset. (RETRY-032)
	PassThrough
)

// Order says what a delivery that fails does to later ones of its lane. (CONS-010)
type Order uint8

// The orders.
const (
	// Unordered: nothing.
	Unordered Order = iota
	// Block: later ones wait in the window, in this process.
	Block
	// Park: later ones wait in the table.
	Park
)

// Mode says what the effect of a handler is, and so what it is worth. (DEDUP-032)
type Mode uint8

// The modes.
const (
	// Idempotent: the effect is outside, and the key is handed on. At least one call.
	Idempotent Mode = iota
	// Tx: the effect and SUCCESS are one transaction. One effect.
	Tx
	// Guarded: the effect is the move of a row in a state machine. One effect on that row.
	Guarded
)

// Rules are what a route says. The zero value is a handler of outside effects, unordered, that takes no
// message without a key.
type Rules struct {
	MissingKey MissingKey
	// Derive computes a key, where MissingKey is Derive.
	Derive func(m *broker.Message) (key string, err error)
	// Policy is the schema's, with defaults filled in. The zero value is idem.DefaultPolicy().
	Policy idem.Policy
	Order  Order
	Mode   Mode
	// HandlerTimeout is how long a handler may take. 0: the guard's.
	HandlerTimeout time.Duration
	// MaxBytes is the largest payload; a larger one is MALFORMED. 0: no limit.
	MaxBytes int
}

// Check says what is wrong with the rules.
func (r *Rules) Check() error {
	if r.MissingKey > PassThrough {
		return fmt.Errorf("rules: MissingKey is %d: use guard.Reject, guard.Derive or guard.PassThrough", r.MissingKey)
	}
	if r.MissingKey == Derive && r.Derive == nil {
		return fmt.Errorf("rules: MissingKey is guard.Derive and Derive is nil: give the function that computes the key")
	}
	if r.Order > Park {
		return fmt.Errorf("rules: Order is %d: use guard.Unordered, guard.Block or guard.Park", r.Order)
	}
	if r.Mode > Guarded {
		return fmt.Errorf("rules: Mode is %d: use guard.Tx, guard.Guarded or guard.Idempotent", r.Mode)
	}
	if r.HandlerTimeout < 0 {
		return fmt.Errorf("rules: HandlerTimeout is %v: give a time above 0, or 0 for the guard's", r.HandlerTimeout)
	}
	if r.MaxBytes < 0 {
		return fmt.Errorf("rules: MaxBytes is %d: give a size above 0, or 0 for no limit", r.MaxBytes)
	}
	p := r.policy()
	if err := p.Check(); err != nil {
		return fmt.Errorf("rules: Policy: %w", err)
	}
	return nil
}

// policy is the schema's. A base of 0 is out of bounds, so that it says that nothing was given.
func (r *Rules) policy() idem.Policy {
	if r.Policy.BackoffBase == 0 && len(r.Policy.BackoffSchedule) == 0 {
		return idem.DefaultPolicy()
	}
	return r.Policy
}
