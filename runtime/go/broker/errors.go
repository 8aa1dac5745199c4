package broker

import "errors"

var (
	// ErrGenerationOver says that the group has gone on without this member: nothing it holds is its own.
	ErrGenerationOver = errors.New("the group's generation is over")

	// ErrUnknownTopic says that a topic does not exist. The error that wraps it names the topic.
	ErrUnknownTopic = errors.New("unknown topic")

	// ErrBehindFailed says that a message was not published because one before it, of the same key, was not
	// confirmed.
	ErrBehindFailed = errors.New("a message before it of the same key was not confirmed")

	// ErrTooLarge says that the broker takes no message of this size: publishing it again is of no use. The
	// error that wraps it names the size and the limit.
	ErrTooLarge = errors.New("message too large")

	// ErrClosed says that the broker or the group was closed by this process.
	ErrClosed = errors.New("broker is closed")
)
