package guard

import "context"

// handling is the context of a handler. It carries what belongs to the delivery in one allocation.
type handling struct {
	context.Context
	key  string
	kept []byte
}

type handlingKey struct{}

// Value answers for itself, and asks the parent for all else.
func (h *handling) Value(key any) any {
	if _, ok := key.(handlingKey); ok {
		return h
	}
	return h.Context.Value(key)
}

// WithKey is ctx with an idempotency key, for callers that run handlers by themselves. Run and RunTx call it.
func WithKey(ctx context.Context, key string) context.Context {
	return &handling{Context: ctx, key: key}
}

// KeyOf is, in a handler, the idempotency key of the delivery, to pass on to whatever has an effect of its own: a
// payment provider's Idempotency-Key, a message's header. It is empty for a message without a key.
func KeyOf(ctx context.Context) string {
	if h, ok := ctx.Value(handlingKey{}).(*handling); ok {
		return h.key
	}
	return ""
}

// Keep has the record keep a result, for duplicates of the delivery: Report.Result, Delivery.Value. The last one
// that a handler keeps counts, where it succeeds. At most store.MaxResult bytes; result is not copied. It does nothing
// outside of a handler, and must not be called by several goroutines at a time.
func Keep(ctx context.Context, result []byte) {
	if h, ok := ctx.Value(handlingKey{}).(*handling); ok {
		h.kept = result
	}
}
