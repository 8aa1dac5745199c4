package consumer

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/payload"
	"github.com/idem-spec/idem/runtime/go/store"
)

// Handler is a function of a user and all that New has to know of it. Tx, TxResult, Guarded, Idempotent,
// TxBatch and IdempotentBatch make one.
type Handler struct {
	eventType string
	mode      guard.Mode
	route     Route
	sample    Message          // an empty message
	fresh     func() Message   // a new one
	misuse    error            // for New to report
	bind      func(b *binding) // makes b.run or b.batch
}

// runner runs the handler of one delivery, which is claimed, and sets its result.
type runner func(ctx context.Context, d *guard.Delivery)

// batchRunner runs the handler of several.
type batchRunner func(ctx context.Context, ds []*guard.Delivery)

// binding is a handler meeting a store.
type binding struct {
	guard *guard.Guard
	store store.Store
	route *Route
	run   runner
	batch batchRunner
	err   error
}

// handlerOf begins a Handler. Of more than one Route the zero values of the later ones do not count, so one is
// enough; more are a mistake.
func handlerOf[P pointer[M], M any](mode guard.Mode, isNil bool, routes []Route) Handler {
	h := Handler{mode: mode, sample: P(new(M)), fresh: func() Message { return P(new(M)) }}
	h.eventType = h.sample.IdemEventType()
	switch {
	case isNil:
		h.misuse = errors.New("the handler is nil: give a function")
	case len(routes) > 1:
		h.misuse = fmt.Errorf("%d Routes: give one at most", len(routes))
	case len(routes) == 1:
		h.route = routes[0]
	}
	h.route = h.route.withDefaults()
	return h
}

// rules are the guard's part of a route.
func (h *Handler) rules() (guard.Rules, error) {
	r := guard.Rules{
		MissingKey: h.route.MissingKey, Order: h.route.Order, Mode: h.mode,
		HandlerTimeout: h.route.HandlerTimeout, MaxBytes: h.route.MaxBytes,
	}
	if p, ok := h.sample.(withPolicy); ok {
		r.Policy = p.IdemPolicy()
	}
	if r.MissingKey == guard.Derive {
		if _, ok := h.sample.(keyed); !ok {
			return r, fmt.Errorf("MissingKey is guard.Derive and %T has no IdemKey: give its schema a key template", h.sample)
		}
		format, fresh := h.route.Format, h.fresh
		r.Derive = func(m *broker.Message) (string, error) { return derive(format, fresh, m) }
	}
	return r, r.Check()
}

// derive computes the key of a message that came without one. A payload that makes the decoder panic is like
// one that cannot be decoded.
func derive(format payload.Format, fresh func() Message, m *broker.Message) (key string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &idem.Failure{Outcome: idem.OutcomeMalformed, Code: string(idem.CodePayloadInvalid), Err: fmt.Errorf("the decoder panics: %v", p)}
		}
	}()
	message := fresh()
	if err := payload.Decode(format, m.Value, message); err != nil {
		return "", err
	}
	return message.(keyed).IdemKey()
}

// decoded is the message of a delivery.
func decoded[P pointer[M], M any](f payload.Format, d *guard.Delivery) (P, error) {
	m := P(new(M))
	return m, payload.Decode(f, d.Message.Value, m)
}

// resultBytes is a handler's result as it is kept for duplicates.
func resultBytes(result any) ([]byte, error) {
	switch r := result.(type) {
	case nil:
		return nil, nil
	case []byte:
		return r, nil
	case proto.Message:
		return proto.Marshal(r)
	}
	return nil, fmt.Errorf("a result is []byte or a message, not a %T", result)
}
