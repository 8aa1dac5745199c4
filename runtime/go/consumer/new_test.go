package consumer

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/state"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

func nothing(context.Context, *payment) error { return nil }

func TestNewNamesTheFieldAndTheMend(t *testing.T) {
	t.Parallel()
	sound := Config{Group: "g", Topics: []string{"payments"}}
	for name, c := range map[string]struct {
		config   func(*Config)
		handlers []Handler
		want     string
	}{
		"no handlers":     {handlers: []Handler{}, want: "no handlers: give consumer.Tx(fn)"},
		"empty handler":   {handlers: []Handler{Idempotent(nothing), {}}, want: "consumer: handler 2 of 2: the Handler is empty: make it with consumer.Tx"},
		"nil function":    {handlers: []Handler{Idempotent((func(context.Context, *payment) error)(nil))}, want: "route payment: the handler is nil"},
		"nil batch":       {handlers: []Handler{IdempotentBatch((func(context.Context, []*payment) []error)(nil))}, want: "route payment: the handler is nil"},
		"two routes":      {handlers: []Handler{Idempotent(nothing, Route{}, Route{})}, want: "route payment: 2 Routes: give one at most"},
		"one type twice":  {handlers: []Handler{Idempotent(nothing), Idempotent(nothing)}, want: "route payment: two handlers for one event type"},
		"wrong order":     {handlers: []Handler{Idempotent(nothing, Route{Order: 9})}, want: "Order is 9"},
		"wrong format":    {handlers: []Handler{Idempotent(nothing, Route{Format: 9})}, want: "Format is 9: use payload.Protobuf"},
		"wrong workers":   {handlers: []Handler{Idempotent(nothing, Route{Workers: -1})}, want: "Workers is -1"},
		"more workers":    {handlers: []Handler{Idempotent(nothing, Route{Workers: 17})}, want: "route payment: Workers is 17, and the consumer has 16: give it at most that, or raise Config.Workers"},
		"no batch":        {handlers: []Handler{Idempotent(nothing, Route{BatchSize: 10})}, want: "route payment: BatchSize is 10, and the handler takes one message at a time: make it with consumer.TxBatch"},
		"wrong hold":      {handlers: []Handler{Idempotent(nothing, Route{Hold: -1})}, want: "Hold is -1ns"},
		"StateID alone":   {handlers: []Handler{Idempotent(nothing, Route{StateDB: new(sql.DB)})}, want: "State is nil: give the table"},
		"no key to make":  {handlers: []Handler{Idempotent(func(context.Context, *refund) error { return nil }, Route{MissingKey: guard.Derive})}, want: "has no IdemKey: give its schema a key template"},
		"another tx":      {handlers: []Handler{Tx(func(context.Context, *sql.Tx, *payment) error { return nil })}, want: "the handler wants a transaction of type *sql.Tx, and the store *memory.Store gives *memory.Tx: take a *memory.Tx in the handler, or a store that gives *sql.Tx"},
		"another batchtx": {handlers: []Handler{TxBatch(func(context.Context, *sql.Tx, []*payment) []error { return nil })}, want: "take a *memory.Tx"},
		"no transition": {handlers: []Handler{Tx(func(context.Context, *memory.Tx, *payment) error { return nil }, Route{State: &state.Table{Name: "orders", ID: "id", Status: "status"}})},
			want: "is no transition: give its schema the option"},
		"bad table":     {handlers: []Handler{Idempotent(nothing, Route{State: &state.Table{Name: "or ders", ID: "id", Status: "status"}})}, want: `Name is "or ders"`},
		"no LastKey":    {handlers: []Handler{Guarded[*payment](&state.Table{Name: "orders", ID: "id", Status: "status"}, nil, nil)}, want: "the table has no LastKey"},
		"nil table":     {handlers: []Handler{Guarded[*payment](nil, nil, nil)}, want: "the table is nil"},
		"no group":      {config: func(c *Config) { c.Group = "" }, want: "Group is empty"},
		"bad scope":     {config: func(c *Config) { c.Scope = "a b" }, want: `Scope is "a b"`},
		"no topics":     {config: func(c *Config) { c.Topics = nil }, want: "Topics is empty"},
		"topic twice":   {config: func(c *Config) { c.Topics = []string{"a", "a"} }, want: `Topics has "a": name each topic once`},
		"retry topic":   {config: func(c *Config) { c.Topics = []string{"a.retry.g"} }, want: `is the retry topic of "a"`},
		"long topic":    {config: func(c *Config) { c.Topics = []string{strings.Repeat("a", 243)} }, want: "shorten the origin's name or the scope"},
		"many workers":  {config: func(c *Config) { c.Workers = 100000 }, want: "Workers is 100000: give 1 to 10000, or 0 for 16"},
		"drain":         {config: func(c *Config) { c.DrainTimeout = -1 }, want: "DrainTimeout is -1ns"},
		"window":        {config: func(c *Config) { c.WindowBytes = -1 }, want: "WindowBytes is -1"},
		"ignored":       {config: func(c *Config) { c.Ignore = []string{"payment"} }, want: "Ignore has payment, which has a handler"},
		"guard's lease": {config: func(c *Config) { c.Guard.Lease = time.Microsecond }, want: "Lease is 1µs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := sound
			if c.config != nil {
				c.config(&config)
			}
			if c.handlers == nil {
				c.handlers = []Handler{Idempotent(nothing)}
			}
			_, err := New(broker.NewMemory(broker.MemoryConfig{}), memory.New(memory.Config{}), config, c.handlers...)
			require.ErrorContains(t, err, "consumer: ")
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := New(nil, memory.New(memory.Config{}), sound, Idempotent(nothing))
	require.ErrorContains(t, err, "no broker")
	_, err = New(broker.NewMemory(broker.MemoryConfig{}), nil, sound, Idempotent(nothing))
	require.ErrorContains(t, err, "no store")
	noTx := sound
	noTx.Guard = guard.Config{Delays: noDelays{}}
	_, err = New(broker.NewMemory(broker.MemoryConfig{}), recordsOnly{memory.New(memory.Config{})}, noTx, Tx(func(context.Context, *sql.Tx, *payment) error { return nil }))
	require.ErrorContains(t, err, "has none: use consumer.Idempotent")
	_, err = New(broker.NewMemory(broker.MemoryConfig{}), recordsOnly{memory.New(memory.Config{})}, noTx, Idempotent(nothing, Route{Order: guard.Park}))
	require.ErrorContains(t, err, "has no table where messages could wait: use guard.Block")
}

func TestMissingTopicsAreNamedWithTheirCommand(t *testing.T) {
	t.Parallel()
	b := broker.NewMemory(broker.MemoryConfig{})
	require.NoError(t, b.CreateTopic("payments", 7))
	c := Config{Group: "g", Topics: []string{"payments", "orders"}, Guard: guard.Config{DeadLetterTopic: true}}
	k, err := New(b, memory.New(memory.Config{}), c, Idempotent(nothing))
	require.NoError(t, err)
	err = k.Run(t.Context())
	require.ErrorIs(t, err, broker.ErrUnknownTopic)
	require.EqualError(t, err, "consumer: unknown topic: payments.retry.g, payments.dlq.g, orders, orders.retry.g, orders.dlq.g; create what is missing by\n"+
		"\tidem topic create payments --group g --dead-letters\n\tidem topic create orders --group g --dead-letters")
	require.ErrorContains(t, k.Run(t.Context()), "Run was called before")
}

// The header's policy is the schema's where the message has none, and a consumer's limits bound it.
func TestPolicyOfTheSchemaCounts(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.config()
		one := int32(1)
		c.Guard.Limits = idem.PartialPolicy{MaxRetry: &one}
		w.run(c, Idempotent(func(context.Context, *payment) error { return errDown }))
		w.pay(0, 1)
		settleDown(time.Minute)
		require.Equal(t, []string{"RETRYABLE/RETRY", "RETRYABLE/DEAD_LETTER"}, w.seen.outcomes("k0"))
	})
}

func TestCleanerRemovesWhatHasExpired(t *testing.T) {
	inWorld(t, func(w *world) {
		w.store = memory.New(memory.Config{Retention: time.Hour})
		w.run(w.config(), Idempotent(nothing))
		w.pay(0, 2500)
		settleDown(3 * time.Second)
		settleDown(62 * time.Minute)
		records, err := w.store.Records(context.Background(), "g", []string{"k0", "k2499"})
		require.NoError(t, err)
		require.Equal(t, []*store.Record{nil, nil}, records)
	})
}
