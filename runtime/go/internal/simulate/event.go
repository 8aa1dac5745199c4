package simulate

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/idem-spec/idem/internal/history"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// event stands for a generated message. Its value is its key, "<lane>/<number>"; its lane is its biz key.
type event[K kind] struct{ wrapperspb.StringValue }

// kind is an event type, as a type.
type kind interface{ name() string }

func (*event[K]) IdemEventType() string { var k K; return k.name() }

func (e *event[K]) IdemBizKey() (string, error) {
	lane, _, _ := strings.Cut(e.GetValue(), "/")
	return lane, nil
}

func (*event[K]) IdemPolicy() idem.Policy {
	return idem.Policy{MaxRetry: 6, MaxHold: 12, BackoffBase: 1, BackoffMax: 4}
}

// The kinds: a mode and an order each, and the three steps of an object that is guarded by its state.
type (
	txLoose   struct{}
	txBatch   struct{}
	txBlock   struct{}
	txPark    struct{}
	idemLoose struct{}
	idemBlock struct{}
	idemPark  struct{}
	created   struct{}
	paid      struct{}
	shipped   struct{}
)

func (txLoose) name() string   { return "tx-loose" }
func (txBatch) name() string   { return "tx-batch" }
func (txBlock) name() string   { return "tx-block" }
func (txPark) name() string    { return "tx-park" }
func (idemLoose) name() string { return "idem-loose" }
func (idemBlock) name() string { return "idem-block" }
func (idemPark) name() string  { return "idem-park" }
func (created) name() string   { return "created" }
func (paid) name() string      { return "paid" }
func (shipped) name() string   { return "shipped" }

// step is an event that moves a state.
type step[K moving] struct{ event[K] }

type moving interface {
	kind
	edge() idem.Edge
}

func (created) edge() idem.Edge { return idem.Edge{From: "", To: "CREATED"} }
func (paid) edge() idem.Edge    { return idem.Edge{From: "CREATED", To: "PAID"} }
func (shipped) edge() idem.Edge { return idem.Edge{From: "PAID", To: "SHIPPED"} }

var machine = func() *idem.Machine {
	m, err := idem.MachineOf([]idem.Edge{created{}.edge(), paid{}.edge(), shipped{}.edge()})
	if err != nil {
		panic(err)
	}
	return m
}()

func (*step[K]) IdemTransition() idem.Transition {
	var k K
	return idem.Transition{From: k.edge().From, To: k.edge().To}
}

func (*step[K]) IdemVerdict(current string) (idem.Verdict, error) {
	var k K
	return machine.Verdict(current, k.edge().From, k.edge().To)
}

// stream is a producer's series of events of one biz key.
type stream struct {
	lane  string
	kinds []string // of the events, in turn
	mode  history.Mode
	order guard.Order
	size  int // how many events it has

	sent int // events that were acknowledged
}

// streams are those of a schedule, some messages each.
func streams(c *chance, v variant) []*stream {
	var all []*stream
	scale := 1
	if c.one(10) { // long lanes, that fill windows
		scale = 5
	}
	add := func(mode history.Mode, order guard.Order, n int, kinds ...string) {
		if mode != history.Guarded { // an object has three moves
			n *= scale
		}
		if v.grows && order != guard.Unordered {
			return
		}
		all = append(all, &stream{
			lane: fmt.Sprintf("%s-%d", strings.Join(kinds, "+"), len(all)), kinds: kinds, mode: mode, order: order, size: n,
		})
	}
	for range 2 {
		add(history.Tx, guard.Unordered, 2+c.below(4), "tx-loose")
		add(history.Tx, guard.Unordered, 1+c.below(4), "tx-batch")
		add(history.Tx, guard.Block, 2+c.below(5), "tx-block")
		add(history.Tx, guard.Park, 2+c.below(5), "tx-park")
		add(history.Idempotent, guard.Unordered, 1+c.below(3), "idem-loose")
		add(history.Idempotent, guard.Block, 2+c.below(3), "idem-block")
		add(history.Idempotent, guard.Park, 2+c.below(3), "idem-park")
	}
	if v.guarded {
		for range 3 {
			add(history.Guarded, guard.Unordered, 3, "created", "paid", "shipped")
		}
	}
	return all
}

// inOrder says that its events have to be done in their order.
func (s *stream) inOrder() bool { return s.order != guard.Unordered || s.mode == history.Guarded }

func (s *stream) key(i int) string { return fmt.Sprintf("%s/%d", s.lane, i) }

const topic = "events"

// isKiller says that the handler of a key kills its process. It may try only a few times.
func isKiller(seed uint64, key string) bool { return oneOf(seed, key, "killer", 80) }

// isDual says that a message has two keys, and comes under the one before too.
func isDual(seed uint64, key string) bool { return oneOf(seed, key, "dual", 8) }

// previous is what the key before has behind it.
const previous = "-before"

// old is the message as a producer of the version before sends it.
func old(m broker.Message) broker.Message {
	m.Headers = slices.DeleteFunc(slices.Clone(m.Headers), func(h idem.Header) bool { return h.Name == "idempotency_key_previous" })
	m.Headers[0].Value = append(slices.Clone(m.Headers[0].Value), previous...)
	return m
}

// isBroken says that the payload of a message is none. It stays a dead letter.
func isBroken(seed uint64, key string) bool {
	return !variantOf(seed).deadTopic && oneOf(seed, key, "broken", 60)
}

func (s *stream) message(seed uint64, i int) broker.Message {
	key := s.key(i)
	payload, err := proto.Marshal(wrapperspb.String(key))
	if err != nil {
		panic(err)
	}
	m := broker.Message{Topic: topic, Key: []byte(s.lane), Value: payload, Headers: idem.Headers{
		{Name: "idempotency_key", Value: []byte(key)},
		{Name: "event_type", Value: []byte(s.kinds[i%len(s.kinds)])},
		{Name: "biz_key", Value: []byte(s.lane)},
	}}
	if s.mode != history.Guarded && !s.inOrder() {
		switch {
		case isDual(seed, key): // the key template has changed, and producers of the one before still run
			m.Headers = append(m.Headers, idem.Header{Name: "idempotency_key_previous", Value: []byte(key + previous)})
		case isBroken(seed, key):
			m.Value = []byte{0xff}
		}
	}
	if isKiller(seed, key) {
		m.Headers = append(m.Headers, idem.Header{Name: "max_retry", Value: []byte("0")})
	}
	return m
}
