package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/protobuf/types/known/timestamppb"

	shopv1 "github.com/idem-spec/idem/examples/shop/go/shop/v1"
	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/payload"
)

// errNotNow is an answer after which the same request may be sent again.
var errNotNow = errors.New("not now")

// shop is what takes orders and refunds.
type shop interface {
	// order returns what the shop says to it.
	order(ctx context.Context, o order) (answer string, err error)
	refund(ctx context.Context, o order, at time.Time) error
}

func newShop(b broker.Publisher) shop {
	if url := strings.TrimSuffix(os.Getenv("ORDERS_URL"), "/"); url != "" {
		return &service{url, &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	}
	return &topics{b}
}

// service is the orders service, on HTTP.
type service struct {
	url    string
	client *http.Client
}

func (s *service) order(ctx context.Context, o order) (string, error) {
	return s.post(ctx, "/orders", o.key, o)
}

func (s *service) refund(ctx context.Context, o order, at time.Time) error {
	_, err := s.post(ctx, "/orders/"+o.ID+"/refund", "", map[string]string{"reason": "changed my mind", "requested_at": at.UTC().Format(time.RFC3339Nano)})
	return err
}

// post sends a request, with an Idempotency-Key where key is not empty.
func (s *service) post(ctx context.Context, path, key string, body any) (string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", strconv.Quote(key))
	}
	response, err := s.client.Do(r)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNotNow, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<12))
	switch {
	case err != nil || response.StatusCode >= 500 || response.StatusCode == http.StatusConflict:
		return "", fmt.Errorf("%w: %s", errNotNow, response.Status) // 409: the same request is in progress
	case response.StatusCode >= 300:
		return "", fmt.Errorf("POST %s: %s: %s", path, response.Status, answer)
	}
	return string(answer), nil
}

// topics is the shop without an orders service: what that would publish.
type topics struct{ publisher broker.Publisher }

func (t *topics) order(ctx context.Context, o order) (string, error) {
	return "", t.publish(ctx, "shop.orders", &shopv1.OrderCreated{
		OrderId: o.ID, Customer: &shopv1.Customer{Id: o.Customer, Email: o.Email}, Total: o.Total, Currency: o.Currency, OccurredAt: timestamppb.Now(),
	})
}

func (t *topics) refund(ctx context.Context, o order, at time.Time) error {
	units, cents, _ := strings.Cut(o.Total, ".")
	u, err := strconv.ParseInt(units, 10, 64)
	if err != nil {
		return err
	}
	c, err := strconv.ParseInt(cents, 10, 32)
	if err != nil {
		return err
	}
	return t.publish(ctx, "shop.refunds", &shopv1.RefundRequested{
		OrderId: o.ID, Amount: &money.Money{CurrencyCode: o.Currency, Units: u, Nanos: int32(c) * 1e7}, RequestedAt: timestamppb.New(at),
	})
}

func (t *topics) publish(ctx context.Context, topic string, m payload.Keyed) error {
	message, err := payload.Message(topic, m, payload.Options{})
	if err != nil {
		return err
	}
	for _, err := range t.publisher.Publish(ctx, []broker.Message{message}) {
		if err != nil {
			return fmt.Errorf("%w: %w", errNotNow, err)
		}
	}
	return nil
}

// failBank has the bank leave calls without an answer once they have had their effect.
func failBank(ctx context.Context, rate float64) error {
	world := &service{strings.TrimSuffix(os.Getenv("OUTSIDE_URL"), "/"), http.DefaultClient}
	_, err := world.post(ctx, "/mode", "", map[string]any{"status": 503, "rate": rate, "kind": "payment", "after": true})
	return err
}
