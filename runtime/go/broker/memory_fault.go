package broker

import (
	"context"
	"time"
)

// MemoryFaults are functions that a Memory asks before it acts, and that say what goes wrong. Each may be
// nil, is called without a lock held, and from several goroutines.
type MemoryFaults struct {
	// Publish is asked for each message. The zero PublishFault lets it pass.
	Publish func(ctx context.Context, message *Message) PublishFault
	// Fetch is asked for each fetch; an error is what the fetch returns.
	Fetch func(ctx context.Context, group string, p TopicPartition, offset int64) error
	// Commit is asked for each commit. With an error nothing is committed, unless it is ErrReplyLost (or
	// wraps it): then the offsets are, and the caller gets the error.
	Commit func(ctx context.Context, group string, offsets map[TopicPartition]int64) error
	// Join is asked for each Join, before the member joins; an error is what Join returns.
	Join func(ctx context.Context, group string) error
}

// ErrReplyLost says that something was done, and the answer did not arrive. Callers cannot tell it from
// one that was not done.
var ErrReplyLost error = replyLost{}

type replyLost struct{}

func (replyLost) Error() string { return "the reply was lost" }

// Timeout makes it a net.Error of the kind that it stands for.
func (replyLost) Timeout() bool   { return true }
func (replyLost) Temporary() bool { return true }

// PublishFault is what goes wrong with one message.
type PublishFault struct {
	// Err is what the publisher gets. Where Delivered is false the message is not there.
	Err error
	// Delivered says that the message is there although the publisher gets Err.
	Delivered bool
	// Delay passes before anything else is done.
	Delay time.Duration
	// Late passes, with Err and Delivered, between the publisher's error and the message's arrival.
	Late time.Duration
	// Copies is how many more times the message is there.
	Copies int
}
