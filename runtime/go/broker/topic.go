package broker

import (
	"errors"
	"fmt"
	"strings"
)

// MaxTopic is the most bytes of a topic's name. (RETRY-030)
const MaxTopic = 249

const (
	retryPart      = ".retry."
	deadLetterPart = ".dlq."
)

// HeaderRoom is what the headers of a retry or a dead letter may need beside those of the message: each is at most
// 1 KiB, and there are about a dozen.
const HeaderRoom = 16 << 10

// RetryTopic is where the retries, holds, deferrals and redrives of an origin topic go for a scope.
// (RETRY-030)
func RetryTopic(origin, scope string) string { return origin + retryPart + scope }

// DeadLetterTopic is where the dead letters of an origin topic go for a scope, where they go to a topic.
// (RETRY-030)
func DeadLetterTopic(origin, scope string) string { return origin + deadLetterPart + scope }

// OriginOf is the origin topic of a scope's retry topic, and false for any other name.
func OriginOf(retryTopic, scope string) (string, bool) {
	origin, ok := strings.CutSuffix(retryTopic, retryPart+scope)
	return origin, ok && origin != ""
}

// CheckTopic says what is wrong with a topic's name: Kafka's rule, 1 to 249 of [A-Za-z0-9._-].
func CheckTopic(name string) error {
	switch {
	case name == "":
		return errors.New("topic has no name")
	case name == "." || name == "..":
		return fmt.Errorf("topic %q: a name of dots alone is taken", name)
	case len(name) > MaxTopic:
		return fmt.Errorf("topic %q has %d bytes, more than %d: shorten the origin's name or the scope", name, len(name), MaxTopic)
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return fmt.Errorf("topic %q: byte %d is %q: a name has letters, digits, '.', '_' and '-' alone", name, i, c)
		}
	}
	return nil
}
