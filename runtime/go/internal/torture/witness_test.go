//go:build unix

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

// answers is a store that grants after a while, and loses its first reply.
type answers struct {
	store.Full[pgx.Tx]
	kind idem.AdmissionKind
	lost int
}

func (a *answers) Claim(_ context.Context, claims []store.Claim) ([]store.Grant, error) {
	time.Sleep(20 * time.Millisecond)
	if a.lost > 0 {
		a.lost--
		return nil, errors.New("EOF")
	}
	grants := make([]store.Grant, len(claims))
	for i := range grants {
		grants[i].Kind = a.kind
	}
	return grants, nil
}

func TestAWitnessedLeaseIsNeverTooLong(t *testing.T) {
	t.Parallel()
	w := newWitness(&answers{kind: idem.AdmitProceed, lost: 1})
	claims := []store.Claim{{Key: "a", Owner: "o", Lease: time.Second}}
	before := time.Now()
	_, err := w.Claim(t.Context(), claims)
	require.Error(t, err)
	_, err = w.Claim(t.Context(), claims)
	require.NoError(t, err)
	c, there := w.of("a")
	require.True(t, there)
	// It may have been made by the first request, and is over a lease later.
	assert.LessOrEqual(t, c.granted.Add(c.sure()).Sub(before), time.Second+15*time.Millisecond)
	assert.LessOrEqual(t, c.sure(), time.Second-40*time.Millisecond)
}

func TestARefusedClaimIsNoLease(t *testing.T) {
	t.Parallel()
	w := newWitness(&answers{kind: idem.AdmitInProgress})
	_, err := w.Claim(t.Context(), []store.Claim{{Key: "a", Owner: "o", Lease: time.Second}})
	require.NoError(t, err)
	_, there := w.of("a")
	assert.False(t, there)
}
