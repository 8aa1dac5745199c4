// Package idemgrpc gives unary gRPC calls an idempotency key, on both sides, with the meaning that idemhttp
// gives it.
//
//	idempotent, err := idemgrpc.UnaryServerInterceptor(idemgrpc.ServerConfig{
//		Store: store, Service: "payments",
//		Principal: func(ctx context.Context) (string, error) { return auth.User(ctx) },
//	})
//	server := grpc.NewServer(grpc.ChainUnaryInterceptor(authenticate, idempotent))
//
// A call then needs the metadata idempotency-key, unless its method has idempotency_level NO_SIDE_EFFECTS in
// the schema or is one of gRPC's own. The first call with a key runs the handler; later ones get its response or
// its error, with the header idempotency-replayed. The answers of the interceptor's own have an ErrorInfo of
// domain "idem" with the reason:
//
//	ABORTED              IN_PROGRESS, with a RetryInfo
//	FAILED_PRECONDITION  KEY_REUSED, CRASH_LOOP, RESPONSE_GONE (it was carried out; its response was over 64 KiB)
//	INVALID_ARGUMENT     KEY_MISSING, KEY_SYNTAX and its like
//	UNAUTHENTICATED      PRINCIPAL_MISSING
//	UNAVAILABLE          STORE_UNAVAILABLE, with a RetryInfo; nothing was carried out
//
// What is not kept runs again at the next call: a panic, the codes that may pass (CLASS-020), UNAUTHENTICATED,
// PERMISSION_DENIED and UNIMPLEMENTED. Headers and trailers that a handler sets are not kept. A caller that goes
// away, or whose deadline passes, does not stop its handler.
//
// Streams are not guarded: a stream has no one request to tell it by.
package idemgrpc
