package seen

import (
	"bytes"
	"encoding/binary"
)

// memory is records in slabs, one after the other, and a table of where they are by hash: linear probing,
// at most two thirds full.
type memory struct {
	slabs []([]byte)
	// slots have a slab's number and a place in it, one more than they are; 0 is free. tags are bits of the
	// hash, so that a record is looked at only where it is likely the one.
	slots []uint64
	used  int
	bytes int64
}

const (
	slabLen   = 1 << 20
	placeBits = 32 // of a place in a slab
	tagBits   = 12
	tagShift  = 64 - tagBits
	fewSlots  = 1 << 10
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
func readRecord(b []byte) (h uint64, r Record) {
	ids := int(binary.LittleEndian.Uint16(b[10:]))
	r = Record{
		Kind: b[8], HasPrint: b[9]&hasPrint != 0,
		Source: binary.LittleEndian.Uint32(b[14:]), Number: int64(binary.LittleEndian.Uint64(b[18:])), Seq: binary.LittleEndian.Uint64(b[26:]),
		ID: b[headLen : headLen+ids],
	}
	copy(r.Fingerprint[:], b[34:])
	if b[9]&hasWith != 0 {
		r.With = b[headLen+ids : lenOf(b)]
	}
	return binary.LittleEndian.Uint64(b), r
}

// size is about how much memory is in use, but for what is free in the last slab.
func (m *memory) size() int64 { return m.bytes + int64(len(m.slots))*8 }

// at is the bytes of a record.
func (m *memory) at(slot uint64) []byte {
	place := slot&(1<<tagShift-1) - 1
	return m.slabs[place>>placeBits][place&(1<<placeBits-1):]
}

func (m *memory) record(slot uint64) Record {
	_, r := readRecord(m.at(slot))
	return r
}

// find looks for the identity of a record.
func (m *memory) find(h uint64, r *Record) (slot uint64, found bool) {
	if len(m.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(m.slots) - 1)
	for i := h & mask; m.slots[i] != 0; i = (i + 1) & mask {
		if m.slots[i]>>tagShift != h>>tagShift {
			continue
		}
		b := m.at(m.slots[i])
		if b[8] == r.Kind && int(binary.LittleEndian.Uint16(b[10:])) == len(r.ID) && bytes.Equal(b[headLen:headLen+len(r.ID)], r.ID) {
			return m.slots[i], true
		}
	}
	return 0, false
}

// insert adds a record that is not there.
func (m *memory) insert(h uint64, r *Record) {
	if (m.used+1)*3 > len(m.slots)*2 {
		m.grow()
	}
	size := headLen + len(r.ID) + len(r.With)
	last := len(m.slabs) - 1
	if last < 0 || cap(m.slabs[last])-len(m.slabs[last]) < size {
		m.slabs = append(m.slabs, make([]byte, 0, max(slabLen, size)))
		last++
	}
	m.bytes += int64(size)
	place := uint64(last)<<placeBits | uint64(len(m.slabs[last]))
	m.slabs[last] = appendRecord(m.slabs[last], h, r)
	m.place(h, place+1)
	m.used++
}

func (m *memory) place(h, place uint64) {
	mask := uint64(len(m.slots) - 1)
	i := h & mask
	for m.slots[i] != 0 {
		i = (i + 1) & mask
	}
	m.slots[i] = h>>tagShift<<tagShift | place
}

func (m *memory) grow() {
	old := m.slots
	m.slots = make([]uint64, max(2*len(old), fewSlots))
	for _, slot := range old {
		if slot != 0 {
			m.place(binary.LittleEndian.Uint64(m.at(slot)), slot&(1<<tagShift-1))
		}
	}
}

// update writes back what can change of a record: its fingerprint.
func (m *memory) update(slot uint64, r *Record) {
	if !r.HasPrint {
		return
	}
	b := m.at(slot)
	b[9] |= hasPrint
	copy(b[34:34+25], r.Fingerprint[:])
}

// each visits all records in the order in which they came.
func (m *memory) each(visit func(h uint64, r *Record) error) error {
	for _, slab := range m.slabs {
		for len(slab) > 0 {
			h, r := readRecord(slab)
			if err := visit(h, &r); err != nil {
				return err
			}
			slab = slab[lenOf(slab):]
		}
	}
	return nil
}
