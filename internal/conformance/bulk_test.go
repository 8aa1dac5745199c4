package conformance

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	vectors "github.com/idem-spec/idem/conformance-vectors"
	"github.com/idem-spec/idem/internal/conformance/bulk"
)

func bulkOptions(count int) BulkOptions {
	return BulkOptions{Seed: 7, Count: count, Limits: testLimits()}
}

func TestBulkCasesAreWellFormed(t *testing.T) {
	t.Parallel()
	for i := range uint64(10_000) {
		c := bulk.Make(3, i)
		v, err := parseJSON(c.Input)
		require.NoError(t, err, "%d %s %s", i, c.Op, c.Input)
		require.Equal(t, object, v.kind)
	}
}

// The lines that are digested (CONF-060).
func TestBulkDigests(t *testing.T) {
	t.Parallel()
	r, err := RunBulk(t.Context(), testCommand(t, "bulk"), bulkOptions(15_000))
	require.NoError(t, err)
	assert.True(t, r.Sound())
	assert.Len(t, r.Blocks, 2)
	assert.Equal(t, "test-port", r.Port.Name)
	total := 0
	for _, op := range r.Ops {
		assert.NotZero(t, op.Valid)
		assert.NotZero(t, op.Errors["ODD"])
		total += op.Cases
	}
	assert.Equal(t, 15_000, total)

	again, err := RunBulk(t.Context(), testCommand(t, "bulk-spaced"), bulkOptions(15_000))
	require.NoError(t, err)
	compared, differ, err := again.Compare(&r.BulkDigests)
	require.NoError(t, err)
	assert.Equal(t, 15_000, compared, "the last block is whole where the stream is")
	assert.Empty(t, differ, "the same values in other words have the same digest")
	assert.Equal(t, r.Digest, again.Digest)
}

func TestBulkDifferenceIsFound(t *testing.T) {
	t.Parallel()
	right, err := RunBulk(t.Context(), testCommand(t, "bulk"), bulkOptions(15_000))
	require.NoError(t, err)

	results, diff, err := CompareBulk(t.Context(), testCommand(t, "bulk:12345"), testCommand(t, "bulk"), bulkOptions(15_000))
	require.NoError(t, err)
	require.NotNil(t, diff)
	assert.Equal(t, 12345, diff.Seq)
	assert.Equal(t, 1, diff.Total)
	assert.Equal(t, bulk.Make(7, 12344).Op, diff.Op)
	_, differ, err := results[0].Compare(&right.BulkDigests)
	require.NoError(t, err)
	assert.Equal(t, []BulkMismatch{{2, 10_001, 15_000}}, differ)
	_, differ, err = results[1].Compare(&right.BulkDigests)
	require.NoError(t, err)
	assert.Empty(t, differ)

	_, diff, err = CompareBulk(t.Context(), testCommand(t, "bulk"), testCommand(t, "bulk"), bulkOptions(1000))
	require.NoError(t, err)
	assert.Nil(t, diff)
}

func TestBulkOfAnUnsoundPort(t *testing.T) {
	t.Parallel()
	r, err := RunBulk(t.Context(), testCommand(t, "bulk-crash:500"), bulkOptions(1000))
	require.NoError(t, err)
	assert.False(t, r.Sound())
	assert.Equal(t, 1, r.FaultCount)
	assert.Equal(t, 500, r.Faults[0].Seq)
	assert.Equal(t, Crash, r.Faults[0].Kind)

	r, err = RunBulk(t.Context(), testCommand(t, "unsupported"), bulkOptions(1000))
	require.NoError(t, err)
	assert.False(t, r.Sound())
	assert.Len(t, r.Unsupported, len(bulk.Ops()))

	r, err = RunBulk(t.Context(), testCommand(t, "exit-3"), bulkOptions(10))
	require.NoError(t, err)
	assert.False(t, r.Sound())

	var notRun *NotRunError
	_, err = RunBulk(t.Context(), testCommand(t, "true"), bulkOptions(1000))
	require.ErrorAs(t, err, &notRun)
	_, _, err = CompareBulk(t.Context(), testCommand(t, "bulk"), testCommand(t, "true"), bulkOptions(1000))
	require.ErrorAs(t, err, &notRun)
}

func TestBulkCompareKnowsItsStream(t *testing.T) {
	t.Parallel()
	a := &BulkDigests{Seed: 1, Count: 20_000, Cases: "c", Blocks: []string{"x", "y"}}
	_, _, err := a.Compare(&BulkDigests{Seed: 2, Count: 20_000, Cases: "c", Blocks: []string{"x", "y"}})
	assert.ErrorContains(t, err, "seed 2")
	_, _, err = a.Compare(&BulkDigests{Seed: 1, Count: 20_000, Cases: "d", Blocks: []string{"x", "y"}})
	assert.ErrorContains(t, err, "other cases")
	compared, differ, err := a.Compare(&BulkDigests{Seed: 1, Count: 15_000, Cases: "d", Blocks: []string{"w", "z"}})
	require.NoError(t, err)
	assert.Equal(t, []BulkMismatch{{1, 1, 10_000}}, differ, "only blocks that both have whole")
	assert.Equal(t, 10_000, compared)
	compared, differ, err = (&BulkDigests{Seed: 1, Count: 9_999, Blocks: []string{"z"}}).Compare(a)
	require.NoError(t, err)
	assert.Zero(t, compared, "no block is whole")
	assert.Empty(t, differ)
}

func TestBulkDigestsFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"seed":1,"count":10,"cases":"","digest":"","blocks":[]}`:        "have not 0 blocks",
		`{"seed":1,"count":10,"digest":"","blocks":["a"],"extra":1}`:      `"extra"`,
		`{"seed":"1","count":10,"cases":"","digest":"","blocks":["a"]}`:   "seed",
		`{"seed":1,"count":0,"cases":"","digest":"","blocks":[]}`:         "have not",
		`{"seed":1,"seed":1,"count":0,"cases":"","digest":"","blocks":1}`: "two members",
	} {
		_, err := ParseBulkDigests([]byte(text))
		assert.ErrorContains(t, err, want)
	}
}

// TestBulkCasesArePublished makes the cases of bulk.json again: the generator never changes without
// the file. `idem conformance bulk` checks the same whenever it compares.
func TestBulkCasesArePublished(t *testing.T) {
	t.Parallel()
	data, err := vectors.Files.ReadFile(BulkFile)
	require.NoError(t, err)
	published, err := ParseBulkDigests(data)
	require.NoError(t, err)
	if raceEnabled {
		t.Skip("a million cases take too long under the race detector")
	}
	s := newStream(BulkOptions{Seed: published.Seed, Count: published.Count}, nil, false)
	for s.next() != nil {
	}
	s.finish()
	assert.Equal(t, published.Cases, s.result.Cases)
}

func TestPrintBulkWritesCases(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, PrintBulk(7, 3, func(line []byte) error { out.Write(line); return nil }))
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	require.Len(t, lines, 3)
	var c struct {
		Type, Op string
		Seq      int
		Input    json.RawMessage
	}
	require.NoError(t, json.Unmarshal(lines[2], &c))
	assert.Equal(t, 3, c.Seq)
	assert.Equal(t, bulk.Make(7, 2).Op, c.Op)
	assert.Equal(t, string(bulk.Make(7, 2).Input), string(c.Input))
}
