package main

import (
	"context"
	"fmt"
	"time"

	wm "github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
	"google.golang.org/protobuf/proto"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
)

// watermill has the same partitions as idem, each a topic with a handler of its own, and the cheapest settings that
// were found: the key from the metadata rather than a hash of the payload, no logger, and a publisher a topic that
// waits for acknowledgements, since a goroutine of each waiting message costs more.
func watermill(ctx context.Context, n int) (usage, error) {
	logger := wm.NopLogger{}
	channel := gochannel.NewGoChannel(gochannel.Config{BlockPublishUntilSubscriberAck: true}, logger)
	router, err := message.NewRouter(message.RouterConfig{}, logger)
	if err != nil {
		return usage{}, err
	}
	poison, err := middleware.PoisonQueue(channel, "poison")
	if err != nil {
		return usage{}, err
	}
	retries := middleware.Retry{MaxRetries: 5, InitialInterval: time.Second, MaxInterval: 5 * time.Minute, Multiplier: 2, Logger: logger}
	seen, err := middleware.NewMapExpiringKeyRepository(time.Hour)
	if err != nil {
		return usage{}, err
	}
	dedup := middleware.Deduplicator{
		KeyFactory: func(m *message.Message) (string, error) { return m.Metadata.Get(keyHeader), nil }, Repository: seen, Timeout: time.Minute,
	}
	router.AddMiddleware(poison, retries.Middleware, dedup.Middleware)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	count := countdown(n, cancel, none)
	topics := make([]string, partitions)
	for i := range topics {
		topics[i] = fmt.Sprintf("%s.%d", topic, i)
		router.AddNoPublisherHandler(topics[i], topics[i], channel, func(m *message.Message) error {
			if err := proto.Unmarshal(m.Payload, new(refundsv1.RefundAsked)); err != nil {
				return err
			}
			count()
			return nil
		})
	}
	parts := make([][]*message.Message, partitions)
	for i, m := range messages(n) {
		made := message.NewMessage(eventID(i), m.Value)
		for _, h := range m.Headers {
			made.Metadata.Set(h.Name, string(h.Value))
		}
		parts[i%partitions] = append(parts[i%partitions], made)
	}
	ended := make(chan error, 1)
	go func() { ended <- router.Run(ctx) }()
	<-router.Running()
	measured := start(nil)
	for i, part := range parts {
		go func() {
			for _, m := range part {
				if channel.Publish(topics[i], m) != nil {
					return // it is closed
				}
			}
		}()
	}
	<-ctx.Done()
	u := measured.stop(n)
	err = <-ended
	_ = channel.Close()
	return u, err
}
