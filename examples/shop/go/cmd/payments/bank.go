package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	shopv1 "github.com/idem-spec/idem/examples/shop/go/shop/v1"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/idemhttp"
)

// bank is a client of the bank, which moves money once for each Idempotency-Key.
type bank struct {
	url    string
	client *http.Client
}

// transfer is what the bank is asked to move.
type transfer struct {
	Payment  string `json:"payment_id"`
	Order    string `json:"order_id"`
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// newBank has no retries of its own: what fails is delivered again, which outlives this process.
func newBank(url string) (*bank, error) {
	once := idem.DefaultPolicy()
	once.MaxRetry = 0
	transport, err := idemhttp.NewTransport(idemhttp.TransportConfig{
		Policy: &once,
		Base:   &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute},
	})
	if err != nil {
		return nil, err
	}
	return &bank{url: strings.TrimSuffix(url, "/"), client: &http.Client{Timeout: 5 * time.Second, Transport: transport}}, nil
}

// charge and refund say when the money was moved, also where that was by an earlier call with the delivery's key.
func (b *bank) charge(ctx context.Context, t transfer) (time.Time, error) {
	return b.post(ctx, "/payments", t)
}

func (b *bank) refund(ctx context.Context, t transfer) (time.Time, error) {
	return b.post(ctx, "/refunds", t)
}

func (b *bank) post(ctx context.Context, path string, t transfer) (time.Time, error) {
	body, err := json.Marshal(t)
	if err != nil {
		return time.Time{}, err
	}
	ctx = idemhttp.WithKey(ctx, guard.KeyOf(ctx))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+path, bytes.NewReader(body))
	if err != nil {
		return time.Time{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := b.client.Do(r)
	if err != nil {
		return time.Time{}, unanswered(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return time.Time{}, refused(response)
	}
	var answer struct {
		At time.Time `json:"at"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return time.Time{}, unanswered(err)
	}
	return answer.At, nil
}

// unanswered is a call of which nobody knows what became: it is made again, with the same key.
func unanswered(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return idem.Classified(shopv1.PaymentError_PAYMENT_ERROR_TIMEOUT, err)
	}
	return idem.Retryable(err)
}

// refused is what the schema says of an answer. A busy bank says for how long.
func refused(r *http.Response) error {
	err := fmt.Errorf("the bank answered %s", r.Status)
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return idem.Throttled(idemhttp.RetryAfter(r.Header, time.Now()), err)
	case http.StatusPaymentRequired, http.StatusUnprocessableEntity:
		return idem.Classified(shopv1.PaymentError_PAYMENT_ERROR_DECLINED, err)
	case http.StatusConflict:
		return idem.Classified(shopv1.PaymentError_PAYMENT_ERROR_ALREADY_PAID, err)
	case http.StatusGatewayTimeout:
		return idem.Classified(shopv1.PaymentError_PAYMENT_ERROR_TIMEOUT, err)
	}
	return idem.Classified(shopv1.PaymentError_PAYMENT_ERROR_UNSPECIFIED, err)
}
