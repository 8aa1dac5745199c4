package again

import "context"

type contextKey struct{}

// WithKey makes key that of the one call that is made with ctx.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, contextKey{}, key)
}

// KeyFor is the key for the call made with ctx, empty where WithKey gave none.
func KeyFor(ctx context.Context) string {
	key, _ := ctx.Value(contextKey{}).(string)
	return key
}
