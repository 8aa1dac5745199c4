package guard

import "context"

// KeyOf is, in a handler, the idempotency key of the delivery, to pass on to whatever has an effect of its own: a
// payment provider's Idempotency-Key, a message's header. It is empty for a message without a key, and in a batch
// handler.
func KeyOf(ctx context.Context) string {
	if h, ok := ctx.Value(handlingKey{}).(*handling); ok {
		return h.key
	}
	return ""
}

// WithKey is ctx with an idempotency key, for callers that run handlers by themselves, and for tests of handlers.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, handlingKey{}, &handling{key: key})
}

// Keep has the record keep a result, for duplicates of the delivery: Report.Result, Delivery.Value. The last one
// that a handler keeps counts, where it succeeds. At most store.MaxResult bytes; result is not copied. It does
// nothing outside of Run and RunTx, and must not be called by several goroutines at a time.
func Keep(ctx context.Context, result []byte) {
	if h, ok := ctx.Value(handlingKey{}).(*handling); ok {
		h.kept = result
	}
}
