//go:build unix

package main

import (
	"time"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/guard"
)

// Two groups do the same on topics of their own: one on PostgreSQL alone, one with Redis in front.
const (
	plainTopic, plainGroup   = "plain", "torture-plain"
	tieredTopic, tieredGroup = "tiered", "torture-tiered"

	partitions      = 6
	retryPartitions = 3
)

var groupOf = map[string]string{plainTopic: plainGroup, tieredTopic: tieredGroup}

// topicsOf are those that a group reads.
func topicsOf(topic string) []string {
	return []string{topic, broker.RetryTopic(topic, groupOf[topic])}
}

const (
	handlerTimeout = 3 * time.Second
	// txLease is how long a claim holds in modes Tx and Guarded, and idempotentLease, renewed, in Idempotent.
	txLease         = handlerTimeout + guard.LeaseMargin
	idempotentLease = 6 * time.Second
	// pastLease is how long a process is stopped.
	pastLease = txLease + 3*time.Second
	// session is how long the group waits for a member that says nothing.
	session = 6 * time.Second
)
