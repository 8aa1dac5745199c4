package input

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// batchLen is about how many bytes a batch has, and maxItems how many messages at most.
const (
	batchLen = 256 << 10
	maxItems = 8192
)

// files reads files, one after the other.
type files struct {
	names   []string
	in      io.Reader
	options Options
	next    int
	now     *file
}

// Files reads files, directories, and standard input, which is "-" and lines of JSON unless Delimited.
func Files(names []string, in io.Reader, o Options) (Reader, error) {
	f := &files{in: in, options: o}
	for _, name := range names {
		found, err := expand(name, o)
		if err != nil {
			return nil, err
		}
		f.names = append(f.names, found...)
	}
	return f, nil
}

// formats of files.
type layout uint8

const (
	lines layout = iota
	delimited
	oneBinary
	oneJSON
)

// layoutOf tells the format by a file's name; false where the name is none of messages.
func layoutOf(name string, o Options) (layout, bool) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".ndjson", ".jsonl":
		return lines, true
	case ".json":
		return oneJSON, true
	case ".binpb", ".bin", ".pb":
		if o.Delimited {
			return delimited, true
		}
		return oneBinary, true
	}
	if o.Delimited {
		return delimited, name == "-"
	}
	return lines, name == "-"
}

const extensions = ".binpb, .json, .ndjson or .jsonl"

// expand makes a directory its files.
func expand(name string, o Options) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	if !info.IsDir() {
		if _, known := layoutOf(name, o); !known && !o.Delimited {
			return nil, fmt.Errorf("%s: what is in it is told by its name, which ends in %s; or say --delimited", name, extensions)
		}
		return []string{name}, nil
	}
	var found []string
	err = filepath.WalkDir(name, func(path string, entry os.DirEntry, err error) error {
		if _, known := layoutOf(path, o); err == nil && known && entry.Type().IsRegular() {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no file of messages in %s: none ends in %s", name, extensions)
	}
	return found, nil
}

func (f *files) Read(ctx context.Context, b *Batch) error {
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if f.now == nil {
			if f.next == len(f.names) {
				return io.EOF
			}
			now, err := f.open(f.names[f.next])
			if err != nil {
				return err
			}
			f.next++
			f.now = now
		}
		err := f.now.read(b)
		if !errors.Is(err, io.EOF) {
			return err
		}
		if err := f.now.close(); err != nil {
			return err
		}
		f.now = nil
	}
}

func (f *files) Close() error {
	if f.now == nil {
		return nil
	}
	return f.now.close()
}

func (f *files) open(name string) (*file, error) {
	format, known := layoutOf(name, f.options)
	if !known {
		format = delimited
	}
	opened := &file{source: &Source{ID: uint32(f.next), Name: name}, format: format, options: f.options, line: 1}
	if name == "-" {
		opened.source.Name, opened.in, opened.close = "standard input", f.in, func() error { return nil }
		return opened, nil
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	opened.in, opened.close = in, in.Close
	return opened, nil
}

// file is one file that is read.
type file struct {
	source  *Source
	in      io.Reader
	close   func() error
	format  layout
	options Options

	// rest is what was read and is in no batch yet; offset is its place in the file and line its line, or
	// the number of the message that begins it.
	rest   []byte
	offset int64
	line   int64
	ended  bool
	// looked is how far behind the last line no end of another is.
	looked int
}

// read fills a batch with as many whole messages as are there.
func (f *file) read(b *Batch) error {
	b.Source, b.Items, b.parse = f.source, b.Items[:0], f.parser()
	memory := append(b.memory[:0], f.rest...)
	f.rest = f.rest[:0]
	done := 0 // of memory; more than nothing without an item where lines are blank
	for {
		used, need, err := f.split(b, memory[done:])
		if err != nil {
			return err
		}
		done += used
		f.offset += int64(used)
		if len(b.Items) > 0 || f.ended {
			f.rest = append(f.rest, memory[done:]...)
			b.memory = memory
			if len(b.Items) == 0 {
				return f.end()
			}
			return nil
		}
		if memory, err = f.fill(memory, done+need); err != nil {
			return err
		}
	}
}

// fill reads on, toward need bytes, but never into more memory than twice what is there: a length that lies
// takes none.
func (f *file) fill(memory []byte, need int) ([]byte, error) {
	if len(memory) == cap(memory) {
		most := max(batchLen, min(need, 2*len(memory)))
		memory = append(make([]byte, 0, most), memory...)
	}
	n, err := io.ReadAtLeast(f.in, memory[len(memory):cap(memory)], 1)
	memory = memory[:len(memory)+n]
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		f.ended = true
		return memory, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.source.Name, err)
	}
	return memory, nil
}

// split finds the messages in memory: how much of it they take, and how much is needed for one.
func (f *file) split(b *Batch, memory []byte) (used, need int, err error) {
	switch f.format {
	case lines:
		return f.splitLines(b, memory)
	case delimited:
		return f.splitDelimited(b, memory)
	}
	if len(memory) > f.options.MaxMessage {
		return 0, 0, tooLong(f.source.Name, uint64(len(memory)), f.options.MaxMessage)
	}
	if f.ended && f.line == 1 {
		raw := memory
		if f.format == oneJSON {
			raw = bytes.TrimPrefix(raw, byteOrderMark)
		}
		b.Items = append(b.Items, Item{Number: 1, raw: raw})
		f.line++
		return len(memory), 0, nil
	}
	return 0, len(memory) + batchLen, nil
}

// byteOrderMark is what editors and shells on Windows put before a text of UTF-8.
var byteOrderMark = []byte("\ufeff")

// maxLine is the longest line for messages of a length: in base64, with headers.
func maxLine(message int) int { return 2*message + 1<<16 }

func (f *file) splitLines(b *Batch, memory []byte) (used, need int, err error) {
	for len(b.Items) < maxItems {
		rest := memory[used:]
		end := bytes.IndexByte(rest[f.looked:], '\n')
		if end >= 0 {
			end += f.looked
		} else {
			f.looked = len(rest)
		}
		switch {
		case end < 0 && len(rest) > maxLine(f.options.MaxMessage):
			return 0, 0, tooLong(f.where(), uint64(len(rest)), f.options.MaxMessage)
		case end < 0 && (!f.ended || len(rest) == 0):
			return used, 2 * len(memory), nil
		case end < 0:
			end = len(rest) - 1
		}
		line := rest[:end+1]
		if f.line == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			b.Items = append(b.Items, Item{Number: f.line, raw: line})
		}
		f.line++
		f.looked = 0
		used += end + 1
	}
	return used, 0, nil
}

func (f *file) splitDelimited(b *Batch, memory []byte) (used, need int, err error) {
	for len(b.Items) < maxItems {
		rest := memory[used:]
		length, size := uint64(0), 1
		if len(rest) > 0 && rest[0] < 0x80 {
			length = uint64(rest[0])
		} else if length, size = binary.Uvarint(rest); size == 0 {
			return used, len(memory) + batchLen, nil
		}
		at := f.offset + int64(used)
		if size < 0 {
			return 0, 0, fmt.Errorf("%s: byte %d: there is no length of message %d: is the file delimited?", f.source.Name, at, f.line)
		}
		if length > uint64(f.options.MaxMessage) {
			return 0, 0, tooLong(fmt.Sprintf("%s: byte %d", f.source.Name, at), length, f.options.MaxMessage)
		}
		end := size + int(length)
		if len(rest) < end {
			return used, used + end, nil
		}
		b.Items = append(b.Items, Item{Number: f.line, raw: rest[size:end:end]})
		f.line++
		used += end
	}
	return used, 0, nil
}

// end is io.EOF, or what is wrong with what is left.
func (f *file) end() error {
	if len(f.rest) > 0 {
		length, size := binary.Uvarint(f.rest)
		if size <= 0 {
			return fmt.Errorf("%s is cut off: message %d at byte %d has half a length", f.source.Name, f.line, f.offset)
		}
		return fmt.Errorf("%s is cut off: message %d at byte %d has %d bytes, and %d are there", f.source.Name, f.line, f.offset, length, len(f.rest)-size)
	}
	return io.EOF
}

func (f *file) where() string { return fmt.Sprintf("%s:%d", f.source.Name, f.line) }

// parser is how the items of the file become messages.
func (f *file) parser() func(*Parser, *Batch, *Item, *Message) error {
	switch {
	case f.format == oneJSON, f.format == lines && f.options.Bare:
		return func(_ *Parser, _ *Batch, i *Item, m *Message) error {
			m.Payload, m.IsJSON = i.raw, true
			return nil
		}
	case f.format == lines:
		return (*Parser).line
	}
	return func(_ *Parser, _ *Batch, i *Item, m *Message) error {
		m.Payload = i.raw
		return nil
	}
}
