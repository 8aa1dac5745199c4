// Package seam lets a test stand between a process and its store and broker: before and after each call it
// is asked, and may fail the call, end the process, or let time pass. It decides nothing itself.
package seam

import (
	"context"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// Op is what a process asks of its store or broker.
type Op uint8

// The operations. Those of a handler's transaction are Begin, Handle, Complete and Commit, in this order.
const (
	Check Op = 1 + iota
	Claim
	Complete // SUCCESS, within a transaction or by itself
	Settle
	Renew
	Read  // records, dead letters, counts
	Clean // expired records, and what an operator removes
	Begin
	Handle // the handler, within its transaction; it has no After, which is Before of Complete
	Commit
	StoreTx
	ClaimDue
	Mark // of rows that were published, or that were not
	Sweep
	Redrive
	StoreOut
	ClaimOut
	MarkOut
	Audit
	Publish // the first of those of the broker; those before are the store's
	Join
	Fetch
	CommitOffsets
)

var names = [...]string{
	Check: "check", Claim: "claim", Complete: "complete", Settle: "settle", Renew: "renew", Read: "read", Clean: "clean",
	Begin: "begin", Handle: "handle", Commit: "commit", StoreTx: "store in tx", ClaimDue: "claim due", Mark: "mark",
	Sweep: "sweep", Redrive: "redrive", StoreOut: "store out", ClaimOut: "claim out", MarkOut: "mark out", Audit: "audit",
	Publish: "publish", Join: "join", Fetch: "fetch", CommitOffsets: "commit offsets",
}

// String is the operation in words.
func (o Op) String() string { return names[o] }

// Step is one side of one operation.
type Step struct {
	Op    Op
	After bool // it was done, and its caller does not know yet
	// Keys are the idempotency keys that it is about, where there are some.
	Keys []string
	// Tx says that Complete is within a transaction.
	Tx bool
}

// Hook is asked at each step. What it returns, if not nil, is what the call returns: before, nothing was
// done; after, only the reply is lost. In a transaction all of it is rolled back.
type Hook func(ctx context.Context, s Step) error

// KeyOf is the idempotency key in a message's headers, empty where there is none.
func KeyOf(headers idem.Headers) string {
	for i := range headers {
		if headers[i].Name == idem.IdempotencyKey.String() {
			return string(headers[i].Value)
		}
	}
	return ""
}

// around does an operation between its two steps.
func around[T any](ctx context.Context, h Hook, op Op, keys []string, do func() (T, error)) (T, error) {
	var none T
	if err := h(ctx, Step{Op: op, Keys: keys}); err != nil {
		return none, err
	}
	answer, err := do()
	if err != nil {
		return answer, err
	}
	if err := h(ctx, Step{Op: op, Keys: keys, After: true}); err != nil {
		return none, err
	}
	return answer, nil
}

func alone(ctx context.Context, h Hook, op Op, keys []string, do func() error) error {
	_, err := around(ctx, h, op, keys, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func keysOf[T any](things []T, key func(*T) string) []string {
	keys := make([]string, len(things))
	for i := range things {
		keys[i] = key(&things[i])
	}
	return keys
}
