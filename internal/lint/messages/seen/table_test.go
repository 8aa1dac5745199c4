package seen

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// meeting is what meet was told.
type meeting struct{ first, again uint64 }

// run adds n records over so many identities and returns the meetings by identity.
func run(t *testing.T, limit int64, n, identities int) (map[string][]meeting, Counts, int64) {
	t.Helper()
	met := map[string][]meeting{}
	dir := t.TempDir()
	table := New(limit, dir, func(first, again *Record) {
		require.Equal(t, string(first.ID), string(again.ID))
		require.Equal(t, first.Kind, again.Kind)
		id := fmt.Sprint(first.Kind, string(first.ID))
		met[id] = append(met[id], meeting{first.Seq, again.Seq})
	})
	for i := range n {
		r := Record{Kind: byte(i % 2), ID: fmt.Appendf(nil, "key-%d", i%identities), With: []byte("w"), Seq: uint64(i), Number: int64(i)}
		require.NoError(t, table.AddAll(table.Append(nil, &r)))
	}
	counts, err := table.Finish()
	require.NoError(t, err)
	spilled := table.Spilled()
	require.NoError(t, table.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "a file was left behind")
	return met, counts, spilled
}

func TestTableOnDiskFindsWhatItFindsInMemory(t *testing.T) {
	t.Parallel()
	const n, identities = 30_000, 10_001
	inMemory, counts, spilled := run(t, 1<<30, n, identities)
	require.Zero(t, spilled)
	for _, limit := range []int64{1 << 20, 24 << 10} { // the second spills again and again
		met, spilledCounts, spilled := run(t, limit, n, identities)
		require.NotZero(t, spilled)
		require.Equal(t, counts, spilledCounts)
		require.Equal(t, inMemory, met)
	}
	require.EqualValues(t, n, counts.Distinct[Key]+counts.Distinct[Event]+counts.Again[Key]+counts.Again[Event])
}

func TestIdentitiesOfTwoKindsAreTwo(t *testing.T) {
	t.Parallel()
	table := New(1<<20, t.TempDir(), func(_, _ *Record) { t.Fatal("they met") })
	require.NoError(t, table.AddAll(table.Append(nil, &Record{Kind: Key, ID: []byte("x")})))
	require.NoError(t, table.AddAll(table.Append(nil, &Record{Kind: Event, ID: []byte("x")})))
}

func TestFirstRecordKeepsTheFingerprintItIsGiven(t *testing.T) {
	t.Parallel()
	var seen []string
	table := New(1<<20, t.TempDir(), func(first, again *Record) {
		seen = append(seen, string(first.Fingerprint[:3]))
		if !first.HasPrint {
			first.HasPrint, first.Fingerprint = again.HasPrint, again.Fingerprint
		}
	})
	for _, print := range []string{"", "abc", "def"} {
		r := Record{Kind: Key, ID: []byte("x"), HasPrint: print != ""}
		copy(r.Fingerprint[:], print)
		require.NoError(t, table.AddAll(table.Append(nil, &r)))
	}
	require.Equal(t, []string{"\x00\x00\x00", "abc"}, seen)
}

func TestNoPlaceForTheFileIsAnError(t *testing.T) {
	t.Parallel()
	table := New(1, t.TempDir()+"/none", func(_, _ *Record) {})
	require.ErrorContains(t, table.AddAll(table.Append(nil, &Record{Kind: Key, ID: []byte("x")})), "keep keys on disk")
}
