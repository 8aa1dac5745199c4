// Package seen remembers identities of messages, to tell which came before: in memory up to a limit, and
// beyond it on disk. Identities are compared as whole byte strings, never by a hash.
package seen

import (
	"hash/maphash"
)

// Kinds of identities, which are never equal to each other.
const (
	Key     = iota // an idempotency key
	Event          // an event_id
	Payload        // a digest of a payload
	kinds
)

// Record is one identity that a message has.
type Record struct {
	Kind byte
	// ID is the identity, of at most 64 KiB.
	ID []byte
	// With is what should be the same where the identity is, of at most 64 KiB: the biz key of a key, the
	// key of an event. Nil where it is not known.
	With []byte
	// Fingerprint is that of the message, "" where it has none.
	Fingerprint [25]byte
	HasPrint    bool
	// Source and Number are the place of the message, and Seq is its number in the run.
	Source uint32
	Number int64
	Seq    uint64
}

// Counts are how many identities of each kind there were, and how many came again.
type Counts struct{ Distinct, Again [kinds]int64 }

// Table is a table of identities. It is not for several goroutines.
type Table struct {
	// meet is called with the first record of an identity and one that came later. What it changes of the
	// first is kept.
	meet  func(first, again *Record)
	limit int64
	seed  maphash.Seed
	shift uint

	counts Counts
	memory memory
	spill  *spill
	dir    string
}

// New makes a table that takes about limit bytes of memory, and a file in dir, "" for the system's place,
// once that is used up.
func New(limit int64, dir string, meet func(first, again *Record)) *Table {
	return &Table{meet: meet, limit: limit, seed: maphash.MakeSeed(), dir: dir}
}

// Append appends a record in the form that AddAll takes. It may be called from several goroutines.
func (t *Table) Append(dst []byte, r *Record) []byte {
	return appendRecord(dst, maphash.Bytes(t.seed, r.ID)+uint64(r.Kind), r)
}

// AddAll adds records. Where the table is on disk already, meet is not called before Finish.
func (t *Table) AddAll(records []byte) error { return eachRecord(records, t.add) }

func (t *Table) add(b []byte) error {
	if t.spill != nil {
		return t.spill.add(b)
	}
	h, kind := hashOf(b), b[8]
	if place, found := t.memory.find(h, b); found {
		t.counts.Again[kind]++
		at := t.memory.at(place)
		first, again := readRecord(at), readRecord(b)
		t.meet(&first, &again)
		t.memory.update(at, &first)
		return nil
	}
	t.counts.Distinct[kind]++
	t.memory.insert(h, b)
	if t.memory.size() <= t.limit || t.shift > maxShift {
		return nil
	}
	return t.toDisk()
}

// toDisk writes what is in memory to a file, which is where all that follows goes.
func (t *Table) toDisk() error {
	s, err := newSpill(t.dir, t.shift)
	if err != nil {
		return err
	}
	t.spill = s
	t.counts.Distinct = [kinds]int64{} // they are counted as they come back
	err = t.memory.each(s.add)
	t.memory = memory{}
	return err
}

// Finish calls meet for what is on disk, and returns the counts.
func (t *Table) Finish() (Counts, error) {
	if t.spill == nil {
		return t.counts, nil
	}
	for i := range t.spill.parts {
		inner := &Table{meet: t.meet, limit: t.limit, seed: t.seed, shift: t.shift + partBits, dir: t.dir}
		err := t.spill.read(i, inner.add)
		var counts Counts
		if err == nil {
			counts, err = inner.Finish()
		}
		_ = inner.Close()
		if err != nil {
			return t.counts, err
		}
		for k := range counts.Distinct {
			t.counts.Distinct[k] += counts.Distinct[k]
			t.counts.Again[k] += counts.Again[k]
		}
	}
	return t.counts, nil
}

// Close removes the file.
func (t *Table) Close() error {
	if t.spill == nil {
		return nil
	}
	return t.spill.close()
}

// Spilled is how many bytes of records were too many for memory.
func (t *Table) Spilled() int64 {
	if t.spill == nil {
		return 0
	}
	return t.spill.taken
}
