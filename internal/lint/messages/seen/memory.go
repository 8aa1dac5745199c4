package seen

import (
	"bytes"
	"encoding/binary"
)

// memory is records in slabs, one after the other, and a table of where they are by hash: linear probing,
// at most two thirds full.
type memory struct {
	slabs [][]byte
	slots []slot
	used  int
	bytes int64
}

// slot is where a record is: its slab and its place in that, one more than they are. 0 is free. The hash is
// there too, so that nearly no record is looked at that is not the one.
type slot struct{ hash, place uint64 }

const (
	slabLen   = 1 << 20
	placeBits = 32 // of a place in a slab
	fewSlots  = 1 << 10
	slotLen   = 16
)

// A record in memory and on disk is a head of fixed length, then ID and With.
const headLen = 8 + 1 + 1 + 2 + 2 + 4 + 8 + 8 + 25

// The flags of a head.
const (
	hasWith = 1 << iota
	hasPrint
)

func appendRecord(dst []byte, h uint64, r *Record) []byte {
	flags := byte(0)
	if r.With != nil {
		flags |= hasWith
	}
	if r.HasPrint {
		flags |= hasPrint
	}
	dst = binary.LittleEndian.AppendUint64(dst, h)
	dst = append(dst, r.Kind, flags)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(r.ID)))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(r.With)))
	dst = binary.LittleEndian.AppendUint32(dst, r.Source)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Number))
	dst = binary.LittleEndian.AppendUint64(dst, r.Seq)
	dst = append(dst, r.Fingerprint[:]...)
	dst = append(dst, r.ID...)
	return append(dst, r.With...)
}

// lenOf is the length of a record by its head.
func lenOf(head []byte) int {
	return headLen + int(binary.LittleEndian.Uint16(head[10:])) + int(binary.LittleEndian.Uint16(head[12:]))
}

// readRecord reads a record, which shares memory with b.
func readRecord(b []byte) Record {
	ids := int(binary.LittleEndian.Uint16(b[10:]))
	r := Record{
		Kind: b[8], HasPrint: b[9]&hasPrint != 0,
		Source: binary.LittleEndian.Uint32(b[14:]), Number: int64(binary.LittleEndian.Uint64(b[18:])), Seq: binary.LittleEndian.Uint64(b[26:]),
		ID: b[headLen : headLen+ids],
	}
	copy(r.Fingerprint[:], b[34:])
	if b[9]&hasWith != 0 {
		r.With = b[headLen+ids : lenOf(b)]
	}
	return r
}

func hashOf(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// size is about how much memory is in use, but for what is free in the last slab.
func (m *memory) size() int64 { return m.bytes + int64(len(m.slots))*slotLen }

// at is the bytes of a record, and of those behind it.
func (m *memory) at(place uint64) []byte {
	place--
	return m.slabs[place>>placeBits][place&(1<<placeBits-1):]
}

// find looks for the identity of a record, by its bytes.
func (m *memory) find(h uint64, b []byte) (place uint64, found bool) {
	if len(m.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(m.slots) - 1)
	for i := h & mask; m.slots[i].place != 0; i = (i + 1) & mask {
		if m.slots[i].hash == h && sameIdentity(m.at(m.slots[i].place), b) {
			return m.slots[i].place, true
		}
	}
	return 0, false
}

// sameIdentity compares kinds and identities, as they are.
func sameIdentity(a, b []byte) bool {
	return a[8] == b[8] && bytes.Equal(identity(a), identity(b))
}

// identity is a record's ID.
func identity(b []byte) []byte { return b[headLen : headLen+int(binary.LittleEndian.Uint16(b[10:]))] }

// insert adds a record that is not there.
func (m *memory) insert(h uint64, b []byte) {
	if (m.used+1)*3 > len(m.slots)*2 {
		m.grow()
	}
	last := len(m.slabs) - 1
	if last < 0 || cap(m.slabs[last])-len(m.slabs[last]) < len(b) {
		m.slabs = append(m.slabs, make([]byte, 0, max(slabLen, len(b))))
		last++
	}
	m.bytes += int64(len(b))
	place := uint64(last)<<placeBits | uint64(len(m.slabs[last]))
	m.slabs[last] = append(m.slabs[last], b...)
	m.place(slot{h, place + 1})
	m.used++
}

func (m *memory) place(s slot) {
	mask := uint64(len(m.slots) - 1)
	i := s.hash & mask
	for m.slots[i].place != 0 {
		i = (i + 1) & mask
	}
	m.slots[i] = s
}

func (m *memory) grow() {
	old := m.slots
	m.slots = make([]slot, max(2*len(old), fewSlots))
	for _, s := range old {
		if s.place != 0 {
			m.place(s)
		}
	}
}

// update writes back what can change of a record: its fingerprint.
func (m *memory) update(b []byte, r *Record) {
	if !r.HasPrint {
		return
	}
	b[9] |= hasPrint
	copy(b[34:34+25], r.Fingerprint[:])
}

// each visits all records in the order in which they came.
func (m *memory) each(visit func(b []byte) error) error {
	for _, slab := range m.slabs {
		if err := eachRecord(slab, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachRecord visits records that are one behind the other.
func eachRecord(b []byte, visit func(b []byte) error) error {
	for len(b) > 0 {
		n := lenOf(b)
		if err := visit(b[:n:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
