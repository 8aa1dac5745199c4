package seam_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/internal/seam"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/memory"
)

var errCut = errors.New("cut")

// steps notes the steps that it is asked at, and fails at one of them.
type steps struct {
	at   string
	seen []string
}

func (s *steps) hook(_ context.Context, step seam.Step) error {
	side := "before"
	if step.After {
		side = "after"
	}
	name := fmt.Sprintf("%s %s %v", side, step.Op, step.Keys)
	s.seen = append(s.seen, name)
	if name == s.at {
		return errCut
	}
	return nil
}

// handle claims a key and completes it in a transaction, and says what came of it.
func handle(t *testing.T, s *steps) (effect bool, state idem.State, err error) {
	t.Helper()
	m := memory.New(memory.Config{})
	p := seam.Store[*memory.Tx](m, s.hook)
	grants, err := p.Claim(t.Context(), []store.Claim{{Scope: "g", Key: "k", Owner: "o", MaxAttempts: 9, Lease: time.Minute}})
	if err == nil {
		err = p.InTx(t.Context(), func(ctx context.Context, tx *memory.Tx) error {
			tx.Do(func() { effect = true })
			return p.CompleteTx(ctx, tx, store.Completion{Lease: grants[0].Lease})
		})
	}
	records, e := m.Records(t.Context(), "g", []string{"k"})
	require.NoError(t, e)
	if records[0] != nil {
		state = records[0].State
	}
	return effect, state, err
}

func TestATransactionHasItsStepsInOrder(t *testing.T) {
	t.Parallel()
	var s steps
	effect, state, err := handle(t, &s)
	require.NoError(t, err)
	assert.True(t, effect)
	assert.Equal(t, idem.StateSuccess, state)
	assert.Equal(t, []string{
		"before claim [k]", "after claim [k]", "before begin []", "before handle []", "before complete [k]", "before commit [k]", "after commit [k]",
	}, s.seen)
}

func TestWhatFailsBeforeIsNotDoneAndWhatFailsAfterIs(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]struct {
		effect bool
		state  idem.State
	}{
		"before claim [k]":    {false, 0},
		"after claim [k]":     {false, idem.StateProcessing},
		"before begin []":     {false, idem.StateProcessing},
		"before handle []":    {false, idem.StateProcessing},
		"before complete [k]": {false, idem.StateProcessing},
		"before commit [k]":   {false, idem.StateProcessing},
		"after commit [k]":    {true, idem.StateSuccess},
	} {
		effect, state, err := handle(t, &steps{at: at})
		require.ErrorIs(t, err, errCut, at)
		assert.Equal(t, want.effect, effect, at)
		assert.Equal(t, want.state, state, at)
	}
}

func TestAMessageThatFailsAfterIsThere(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]int{"before publish [k]": 0, "after publish [k]": 1} {
		m := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
		s := steps{at: at}
		errs := seam.Broker(m, s.hook).Publish(t.Context(), []broker.Message{{
			Topic: "orders", Headers: idem.Headers{{Name: "idempotency_key", Value: []byte("k")}},
		}})
		assert.Equal(t, []error{errCut}, errs, at)
		assert.Len(t, m.Messages("orders"), want, at)
	}
}

// A commit is about the messages that it is the first to cover.
func TestACommitNamesItsMessages(t *testing.T) {
	t.Parallel()
	m := broker.NewMemory(broker.MemoryConfig{Partitions: 1})
	for _, key := range []string{"a", "b", "c"} {
		require.Nil(t, m.Publish(t.Context(), []broker.Message{{Topic: "orders", Headers: idem.Headers{{Name: "idempotency_key", Value: []byte(key)}}}}))
	}
	s := steps{at: "before commit offsets [a b]"}
	g, err := seam.Broker(m, s.hook).Group(t.Context(), "g", []string{"orders"})
	require.NoError(t, err)
	n, err := g.Join(t.Context())
	require.NoError(t, err)
	p := broker.TopicPartition{Topic: "orders"}
	batch, err := n.Fetch(t.Context(), p, 0, 1<<20)
	require.NoError(t, err)
	require.Len(t, batch.Messages, 3)
	require.ErrorIs(t, n.Commit(t.Context(), map[broker.TopicPartition]int64{p: 2}), errCut)
	_, committed := m.Committed("g", p)
	assert.False(t, committed)
	s.at = ""
	s.seen = nil
	require.NoError(t, n.Commit(t.Context(), map[broker.TopicPartition]int64{p: 2}))
	require.NoError(t, n.Commit(t.Context(), map[broker.TopicPartition]int64{p: 3}))
	assert.Equal(t, []string{"before commit offsets [a b]", "after commit offsets [a b]", "before commit offsets [c]", "after commit offsets [c]"}, s.seen)
	require.NoError(t, n.Close())
	require.NoError(t, g.Close())
}
