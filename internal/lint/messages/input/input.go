// Package input reads messages from where they are: files, a directory, lines of JSON, a topic of Kafka. A
// reader takes memory for a few batches, however long what it reads is, and none before it knows how much
// is needed and that it is within bounds.
package input

import (
	"context"
	"fmt"
	"time"

	"github.com/idem-spec/idem/internal/lint/messages/jsonscan"
	"github.com/idem-spec/idem/runtime/go/idem"
)

// Source is a file, or a partition of a topic.
type Source struct {
	// ID tells sources apart within a run.
	ID uint32
	// Name is the file's, or "topic/partition".
	Name string
	// Log says that it is a partition, whose messages have offsets. Those of a file are counted from 1: its
	// lines, or its messages.
	Log bool
}

// Message is a message as it came. Its bytes are valid while its batch is.
type Message struct {
	// Number is the offset, the line, or the number of the message.
	Number int64
	// Topic is where it was read from, "" where that is not known; Partition is -1 and Partitions, how many
	// the topic has, is 0 where they are not.
	Topic      string
	Partition  int32
	Partitions int32
	// Time is the broker's timestamp, zero where that is not known.
	Time time.Time
	// Key is the record's key. HasKey says that it is known, were it null.
	Key    []byte
	HasKey bool
	// Headers are the headers. HasHeaders says that what it came in has headers, were there none.
	Headers    idem.Headers
	HasHeaders bool
	// Payload is the payload; nil where it is null. IsJSON says that it was an object in a line of JSON.
	Payload []byte
	IsJSON  bool
}

// reset clears a message, and keeps the memory of its headers.
func (m *Message) reset() { *m = Message{Headers: m.Headers[:0], Partition: -1} }

// Parser makes messages of the items of batches. It is not for several goroutines.
type Parser struct {
	scan jsonscan.Scanner
}

// Item is what a batch has of one message.
type Item struct {
	Number int64
	raw    []byte
	ready  *Message
}

// Batch is messages of one source, in their order. A reader fills it again once they are done with.
type Batch struct {
	Source *Source
	Items  []Item
	parse  func(*Parser, *Batch, *Item, *Message) error
	memory []byte
}

// LineError says why an item is no message. The others of its batch may be.
type LineError struct {
	// Byte is where in the item, from 0.
	Byte int
	// What is wrong, and how to mend it.
	What, Mend string
}

// Error is "at byte 11: no JSON".
func (e *LineError) Error() string { return fmt.Sprintf("at byte %d: %s", e.Byte, e.What) }

// Parse makes the message of an item. The error is a *LineError.
func (b *Batch) Parse(p *Parser, item *Item, into *Message) error {
	if item.ready != nil {
		*into = *item.ready
		return nil
	}
	into.reset()
	into.Number = item.Number
	return b.parse(p, b, item, into)
}

// Reader reads messages.
type Reader interface {
	// Read fills a batch. It returns io.EOF behind the last, and an error that says what and where.
	Read(ctx context.Context, b *Batch) error
	Close() error
}

// Options are how files are read.
type Options struct {
	// Delimited says that binary files are messages one after the other, each behind its length as a varint.
	Delimited bool
	// Bare says that lines of JSON are payloads, and not messages with headers.
	Bare bool
	// MaxMessage is the most bytes of a payload that is read at all.
	MaxMessage int
}

// DefaultMaxMessage is MaxMessage unless told otherwise: what the runtime publishes at most.
const DefaultMaxMessage = 64 << 20

// tooLong is the error about a message beyond MaxMessage.
func tooLong(where string, length uint64, most int) error {
	return fmt.Errorf("%s: a message of %d bytes, and at most %d are read: raise --max-message, or look whether it is the right format", where, length, most)
}
