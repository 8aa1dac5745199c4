package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	shopv1 "github.com/idem-spec/idem/examples/shop/go/shop/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/kafka"
)

const (
	// copyHeader marks a copy, of which no other is made.
	copyHeader = "shop-copy"
	fetchBytes = 1 << 20
)

// copied are the topics whose messages come again, and what is in them.
var copied = map[string]func() proto.Message{
	"shop.orders":   func() proto.Message { return new(shopv1.OrderCreated) },
	"shop.payments": func() proto.Message { return new(shopv1.PaymentSucceeded) },
}

// copier reads topics beside their consumers, and publishes some messages again.
type copier struct {
	broker  *kafka.Broker
	s       settings
	n       *counts
	gateway string
	client  *http.Client
	from    []kafka.Span

	mu     sync.Mutex
	floats map[string]bool // what the gateway was given and has not come back: it bears no mark
}

// newCopier begins at the ends of the topics.
func newCopier(ctx context.Context, b *kafka.Broker, s settings, n *counts) (*copier, error) {
	c := &copier{
		broker: b, s: s, n: n, gateway: strings.TrimSuffix(os.Getenv("GATEWAY_URL"), "/"),
		client: &http.Client{Timeout: 10 * time.Second}, floats: make(map[string]bool),
	}
	for topic := range copied {
		spans, err := b.Spans(ctx, topic, time.Time{}, time.Time{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", topic, err)
		}
		c.from = append(c.from, spans...)
	}
	return c, nil
}

func (c *copier) run(ctx context.Context) {
	var partitions sync.WaitGroup
	for _, span := range c.from {
		partitions.Go(func() { c.follow(ctx, span) })
	}
	partitions.Wait()
}

func (c *copier) follow(ctx context.Context, span kafka.Span) {
	for offset := span.To; ctx.Err() == nil; {
		batch, next, err := c.broker.Scan(ctx, span.TopicPartition, offset, fetchBytes)
		if err != nil {
			if ctx.Err() == nil {
				log.Printf("load: read %s: %v", span.Topic, err)
				time.Sleep(time.Second)
			}
			continue
		}
		offset = next
		var copies []broker.Message
		for i := range batch.Messages {
			copies = append(copies, c.copies(ctx, &batch.Messages[i])...)
		}
		if len(copies) == 0 {
			continue
		}
		for _, err := range c.broker.Publish(ctx, copies) {
			if err != nil && ctx.Err() == nil {
				log.Printf("load: publish a copy: %v", err)
			}
		}
	}
}

// copies are what comes of a message besides: the same again, with other headers, and by way of JSON.
func (c *copier) copies(ctx context.Context, m *broker.Message) (copies []broker.Message) {
	key, _ := valueOf(m.Headers, "idempotency_key")
	if _, marked := valueOf(m.Headers, copyHeader); marked || c.cameBack(m.Topic+" "+key) {
		return nil
	}
	if rand.Float64() < c.s.duplicates {
		c.n.Copies.Add(1)
		copies = append(copies, again(m, m.Headers))
	}
	if rand.Float64() < c.s.rewrites {
		c.n.Rewritten.Add(1)
		copies = append(copies, again(m, rewrite(m.Headers)))
	}
	// An amount that no float holds is what the gateway is for.
	if c.gateway != "" && (rand.Float64() < c.s.drift || bytes.Contains(m.Value, []byte("IDR"))) {
		c.expect(m.Topic+" "+key, true)
		if err := c.byFloat(ctx, m); err != nil {
			c.expect(m.Topic+" "+key, false)
			if ctx.Err() == nil {
				log.Printf("load: %v", err)
			}
		}
	}
	return copies
}

func (c *copier) cameBack(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	back := c.floats[key]
	delete(c.floats, key)
	return back
}

func (c *copier) expect(key string, coming bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if coming {
		c.floats[key] = true
	} else {
		delete(c.floats, key)
	}
}

func again(m *broker.Message, headers idem.Headers) broker.Message {
	marked := append(slices.Clone(headers), idem.Header{Name: copyHeader, Value: []byte("1")})
	return broker.Message{Topic: m.Topic, Key: m.Key, Value: m.Value, Headers: marked}
}

// byFloat has the JSON gateway publish the message, which makes a float of its amount.
func (c *copier) byFloat(ctx context.Context, m *broker.Message) error {
	message := copied[m.Topic]()
	if err := proto.Unmarshal(m.Value, message); err != nil {
		return err
	}
	body, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
	if err != nil {
		return err
	}
	name := string(message.ProtoReflect().Descriptor().FullName())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.gateway+"/"+name, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<12))
	switch {
	case response.StatusCode == http.StatusUnprocessableEntity:
		c.n.Refused.Add(1)
		key, _ := valueOf(m.Headers, "idempotency_key")
		c.expect(m.Topic+" "+key, false)
	case response.StatusCode >= 300:
		return fmt.Errorf("the gateway answered %s: %s", response.Status, text)
	default:
		c.n.Floats.Add(1)
	}
	return nil
}
