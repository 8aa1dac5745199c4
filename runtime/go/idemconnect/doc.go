// Package idemconnect gives unary Connect calls an idempotency key, on both sides, over all of Connect's protocols
// (Connect, gRPC, gRPC-Web). What happens is what package idemgrpc says, with the same codes and details.
//
//	idempotent, err := idemconnect.NewServerInterceptor(idemconnect.ServerConfig{
//		Store: store, Service: "payments",
//		Principal: func(ctx context.Context, r connect.AnyRequest) (string, error) { return auth.User(ctx) },
//	})
//	paymentsv1connect.NewPaymentsHandler(payments, connect.WithInterceptors(authenticate, idempotent))
//
// Give it last, so that it is the innermost: the response that is given again is a message of the right content,
// and not of the generated type, which an interceptor around it could not assert.
//
// Streams are not guarded: a stream has no one request to tell it by.
package idemconnect
