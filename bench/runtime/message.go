package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
)

const (
	topic      = "refunds"
	partitions = 4
	batch      = 500
	orders     = 10_000
	keyHeader  = "idempotency_key"
)

// run-wide, so that a key is new in every round.
var made int

// messages are n of generated type with keys that were never there before, and all headers that a producer sends.
func messages(n int) []broker.Message {
	all := make([]broker.Message, n)
	now := time.Now()
	for i := range all {
		made++
		m := &refundsv1.RefundAsked{
			OrderId: fmt.Sprintf("order-%d", made%orders), Amount: "100.50", Currency: "USD",
			AskedAt: timestamppb.New(time.UnixMilli(1_700_000_000_000 + int64(made))),
		}
		headers, err := m.IdemHeaders(idem.Context{EventID: eventID(made), Topic: topic, ProducedAt: now})
		check(err)
		value, err := proto.Marshal(m)
		check(err)
		all[i] = broker.Message{Topic: topic, Key: []byte(m.GetOrderId()), Value: value, Headers: headers}
	}
	return all
}

func eventID(n int) string {
	id := uuid.UUID{0: 1, 1: 0x98, 6: 0x70, 8: 0x80}
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id.String()
}

// key is a new key of the usual length, for what has no message.
func key() string {
	made++
	return fmt.Sprintf("refunds.asked:v1:order-%d:%09d", made%orders, made)
}

// owner is a token of a batch, as the guard makes one: each claim adds its number.
func owner() string {
	id := uuid.New()
	return hex.EncodeToString(id[:11])
}

// batches cuts messages into slices of at most 500.
func batches(all []broker.Message) [][]broker.Message {
	var cut [][]broker.Message
	for len(all) > batch {
		cut, all = append(cut, all[:batch]), all[batch:]
	}
	return append(cut, all)
}

// check is for what cannot fail.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
