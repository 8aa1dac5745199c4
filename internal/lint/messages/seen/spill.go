package seen

import (
	"fmt"
	"os"
)

const (
	partBits = 6 // of the hash, which choose a part
	// maxShift is when the bits of a hash are used up. What is then too much for memory has one hash, which
	// no input brings about by design: the hash has a seed of this run.
	maxShift = 64 - placeableBits - 4*partBits
	chunkLen = 64 << 10
	// placeableBits of a hash choose a slot in memory.
	placeableBits = 24
)

// spill is records in a file, in parts by bits of their hashes. Each part is chunks, so that one file is
// enough; where the system allows, it has no name from the start, and is gone with this process however
// that ends.
type spill struct {
	file  *os.File
	name  string // where it still has a name
	shift uint
	end   int64 // of the file
	taken int64 // bytes of records, also of those that are not yet written
	parts [1 << partBits]partition
}

// partition is one part: chunks of the file, and what is not yet written.
type partition struct {
	chunks []chunk
	buffer []byte
}

type chunk struct {
	at     int64
	length int32
}

func newSpill(dir string, shift uint) (*spill, error) {
	file, err := os.CreateTemp(dir, "idem-check-*")
	if err != nil {
		return nil, fmt.Errorf("keep keys on disk, since there are more than --memory holds: %w", err)
	}
	s := &spill{file: file, name: file.Name(), shift: shift}
	if os.Remove(s.name) == nil {
		s.name = ""
	}
	return s, nil
}

func (s *spill) add(b []byte) error {
	p := &s.parts[hashOf(b)>>placeableBits>>s.shift&(1<<partBits-1)]
	if p.buffer == nil {
		p.buffer = make([]byte, 0, chunkLen)
	}
	if len(p.buffer) > 0 && len(p.buffer)+len(b) > chunkLen {
		if err := s.flush(p); err != nil {
			return err
		}
	}
	p.buffer = append(p.buffer, b...)
	s.taken += int64(len(b))
	return nil
}

func (s *spill) flush(p *partition) error {
	if _, err := s.file.WriteAt(p.buffer, s.end); err != nil {
		return fmt.Errorf("keep keys on disk: %w: name another place in TMPDIR, or raise --memory", err)
	}
	p.chunks = append(p.chunks, chunk{s.end, int32(len(p.buffer))})
	s.end += int64(len(p.buffer))
	p.buffer = p.buffer[:0]
	return nil
}

// read visits the records of a part in the order in which they came, and lets its memory go.
func (s *spill) read(part int, visit func(b []byte) error) error {
	p := &s.parts[part]
	buffer := make([]byte, 0, chunkLen)
	for _, c := range p.chunks {
		if cap(buffer) < int(c.length) {
			buffer = make([]byte, c.length)
		}
		buffer = buffer[:c.length]
		if _, err := s.file.ReadAt(buffer, c.at); err != nil {
			return fmt.Errorf("read keys from disk: %w", err)
		}
		if err := eachRecord(buffer, visit); err != nil {
			return err
		}
	}
	err := eachRecord(p.buffer, visit)
	*p = partition{}
	return err
}

func (s *spill) close() error {
	err := s.file.Close()
	if s.name != "" {
		err = os.Remove(s.name)
	}
	return err
}
