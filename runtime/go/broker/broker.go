package broker

import (
	"context"
	"time"

	"github.com/idem-spec/idem/runtime/go/idem"
)

// Message is one message of a topic. Value and header values are the bytes that the producer gave: an
// empty one is not nil, and a null one is nil.
type Message struct {
	Topic     string
	Partition int32 // of a message that was fetched; a publisher chooses by Key
	Offset    int64 // of a message that was fetched
	// Key is the biz key, which chooses the partition by Kafka's own default partitioner (HASH-020). Nil:
	// any partition.
	Key     []byte
	Value   []byte
	Headers idem.Headers
	// Time is the broker's timestamp of a message that was fetched.
	Time time.Time
}

// Publisher publishes.
type Publisher interface {
	// Publish returns once the broker has confirmed each message on all in-sync replicas, or has not. The
	// answer is nil where all are confirmed; else it has one entry for each message, nil where that one is.
	// A message with an error may be there all the same: publishing it again can double it, and consumers
	// are ready for that. Messages of one key are published in the order given, also where one fails: none
	// after it is then confirmed.
	Publish(ctx context.Context, messages []Message) []error
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// Assignment is a partition that a generation has, and where to go on.
type Assignment struct {
	TopicPartition
	// Offset is the committed one; the earliest there is where none is committed, also for a partition that
	// was added later.
	Offset int64
}

// Batch is what one fetch brought.
type Batch struct {
	// Messages are in the order of the log, each at or behind the offset asked for. Offsets may have gaps.
	Messages []Message
	// End is the offset behind the last message that can be read now.
	End int64
}

// Generation is one member's share of a group, from one rebalance to the next. Its methods may be called
// from several goroutines.
type Generation interface {
	// Assignments is fixed for the generation's life. It may be empty.
	Assignments() []Assignment
	// Done is closed when the generation is over: at a rebalance, or when the partitions of a topic became
	// more.
	Done() <-chan struct{}
	// Fetch waits a short while for messages at offset; a batch without any is no error. It returns
	// ErrGenerationOver once Done is closed.
	Fetch(ctx context.Context, p TopicPartition, offset int64, maxBytes int) (Batch, error)
	// Commit records, for each partition, the offset to go on with. It returns an error that wraps
	// ErrGenerationOver where the generation is over, and then nothing was committed.
	Commit(ctx context.Context, offsets map[TopicPartition]int64) error
	// Close gives the share back; the group rebalances. Closing twice is no error.
	Close() error
}

// Group is membership of a consumer group.
type Group interface {
	// Join waits until this member has a share. The generation before it has to be closed.
	Join(ctx context.Context) (Generation, error)
	// Close leaves the group.
	Close() error
}

// Broker is a connection to a broker. Its methods may be called from several goroutines.
type Broker interface {
	Publisher
	// Group makes this process a member of the named group on the topics, all of which have to exist.
	Group(ctx context.Context, name string, topics []string) (Group, error)
	// Partitions is how many partitions each topic has; ErrUnknownTopic where one is missing.
	Partitions(ctx context.Context, topics ...string) (map[string]int32, error)
	Close() error
}
