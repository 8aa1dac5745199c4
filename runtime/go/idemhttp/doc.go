// Package idemhttp gives HTTP calls an idempotency key, on both sides.
//
// # Server
//
//	idempotent, err := idemhttp.New(idemhttp.Config{
//		Store:     store,                 // sqlite, postgres, redis, tiered
//		Service:   "payments",
//		Principal: func(r *http.Request) (string, error) { return auth.User(r) },
//	})
//	mux.Handle("POST /payments", idempotent.Wrap(http.HandlerFunc(pay)))
//
// A POST or PATCH then needs an Idempotency-Key (HDR-043). The first call with a key runs the handler; later ones
// get its response, with Idempotency-Replayed: true. Meanwhile they get 409 with Retry-After; and 422 where the
// key comes with another method, path or body. What is not kept runs again at the next call: a panic, 5xx, and
// the 4xx that say "not now" or "not you" (401, 403, 407, 408, 409, 421, 423, 425, 429).
//
// The key's scope is the service, the principal, the method and the route: nobody gets another's response, and
// New refuses to start without a principal function. A caller that goes away does not stop its handler: the
// response is there when it asks again.
//
// The guarantee is that of mode Idempotent: at least one call of the handler, and one where the process lives.
// Where the process dies in the middle, the next call runs the handler again, with the same KeyOf, to pass on.
// The response is sent once its record is durable, unless it is larger than the record can keep: then it is sent
// as it comes, and later calls get 410, which says that it was carried out.
//
// # Client
//
//	client := &http.Client{Transport: transport} // transport, err := idemhttp.NewTransport(idemhttp.TransportConfig{})
//
// The transport sends a key with what is not safe by its method, and tries again by the tables of the spec
// (CLASS-010, CLASS-050), with the policy's backoff and the server's Retry-After, the same key and the same body.
// Use it for servers that honour the key: on others a retry can double an effect.
package idemhttp
