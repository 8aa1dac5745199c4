//go:build unix

package faults

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/consumer"
	"github.com/idem-spec/idem/runtime/go/guard"
	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
)

// TestChecklistServerErrorsAndTimeoutsUntilTheDeadLetter: a server that answers 503, and one that does not answer in
// time, are asked again after the delays that the spec computes, with exactly the headers that it says, and then the
// message is a dead letter.
func TestChecklistServerErrorsAndTimeoutsUntilTheDeadLetter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	var mu sync.Mutex
	calls := map[string][]time.Time{}
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		calls[r.Header.Get("Idempotency-Key")] = append(calls[r.Header.Get("Idempotency-Key")], time.Now())
		mu.Unlock()
		if r.URL.Path == "/silent" {
			select {
			case <-r.Context().Done():
			case <-over:
			}
			return
		}
		rw.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	ask := func(ctx context.Context, _ pgx.Tx, m *work) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+m.GetValue(), nil)
		if err != nil {
			return err
		}
		request.Header.Set("Idempotency-Key", guard.KeyOf(ctx))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		outcome, err := idem.ClassifyHTTP(response.StatusCode)
		if err != nil || outcome == idem.OutcomeOK {
			return err
		}
		return &idem.Failure{Outcome: outcome, Code: "BANK", Err: fmt.Errorf("it says %d", response.StatusCode)}
	}

	// Each message's headers in the order of the spec's table, but for those that a retry sets.
	type sent struct {
		path   string
		policy []string
		retries,
		jitter int
		base func(n int) int // milliseconds, by the policy
	}
	doubled := func(n int) int { return min(1000<<n, 2000) }
	scheduled := func(n int) int { return []int{300, 800}[min(n, 1)] }
	messages := map[string]sent{
		"busy:1":    {"/busy", []string{"backoff_base", "1", "backoff_jitter", "700", "backoff_max", "2"}, 3, 700, doubled},
		"silent:1":  {"/silent", []string{"backoff_base", "1", "backoff_jitter", "0", "backoff_max", "2"}, 2, 0, doubled},
		"busy:2":    {"/busy", []string{"backoff_jitter", "99", "backoff_schedule", "300,800"}, 4, 99, scheduled},
		"silent:2":  {"/silent", []string{"backoff_jitter", "450", "backoff_schedule", "300,800"}, 1, 450, scheduled},
		"no-second": {"/busy", []string{"backoff_schedule", "300,800"}, 0, 0, scheduled},
	}
	identity := func(key string) []string {
		return []string{
			"idempotency_key", key, "event_id", "0198c0de-0000-7000-8000-00000000000a", "event_type", "work", "biz_key", "b-" + key, "topic", w.Topic,
			"produced_at", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			"fingerprint", "0123abcd-0123456789abcdef", "idem_spec", "1",
		}
	}
	identities := map[string][]string{}
	for key, s := range messages {
		identities[key] = identity(key)
		m := w.message(key, s.path)
		m.Headers = pairs(append(append(append([]string{}, identities[key]...), "max_retry", strconv.Itoa(s.retries)), append(s.policy, "x-tenant", "7")...)...)
		w.send(m)
	}
	w.start(w.store, w.config(), consumer.Tx(ask, consumer.Route{HandlerTimeout: 2 * time.Second, Breaker: consumer.Breaker{Failures: -1}}))
	w.judge()
	require.Empty(t, w.effects())

	retries := map[string][]kafkago.Message{}
	for _, m := range w.read(broker.RetryTopic(w.Topic, w.Group)) {
		retries[valueOf(m, "idempotency_key")] = append(retries[valueOf(m, "idempotency_key")], m)
	}
	letters := map[string]store.DeadLetter{}
	for _, l := range w.letters() {
		letters[l.Key] = l
	}
	mu.Lock()
	defer mu.Unlock()
	for key, s := range messages {
		require.Len(t, calls[key], s.retries+1, key)
		require.Len(t, retries[key], s.retries, key)
		reason := map[string]string{"/busy": "BANK: it says 503", "/silent": "TIMEOUT: the handler took longer than 2s"}[s.path]
		headersOf := func(count int, again ...string) []string {
			headers := append(append([]string{}, identities[key]...), "retry_count", strconv.Itoa(count), "max_retry", strconv.Itoa(s.retries),
				"hold_count", "0", "target_scope", w.Group)
			return append(append(append(headers, s.policy...), again...), "reject_reason", reason, "x-tenant", "7")
		}
		for n, m := range retries[key] {
			delay := s.base(n) + int(xxh64(key+"#"+strconv.Itoa(n))%uint64(s.jitter+1))
			own, err := idem.Backoff(key, int32(n), policyOf(t, s.policy), 0)
			require.NoError(t, err)
			require.Equal(t, int64(delay), own.Ms(), "%s: delay %d", key, n)
			due := valueOf(m, "next_retry_time")
			require.Equal(t, headersOf(n+1, "retry_interval", strconv.Itoa(delay), "next_retry_time", due), headersOfMessage(m), "%s: retry %d", key, n)
			at, err := time.Parse("2006-01-02T15:04:05.000Z", due)
			require.NoError(t, err)
			wait := time.Duration(delay) * time.Millisecond
			// The header has milliseconds. All clocks are this machine's.
			require.False(t, at.Before(calls[key][n].Add(wait-time.Millisecond)), "%s: %v is due at %v, %v later", key, calls[key][n], at, wait)
			require.False(t, calls[key][n+1].Before(at.Add(-20*time.Millisecond)), "%s: retry %d, due %v, came early at %v", key, n, at, calls[key][n+1])
			require.Equal(t, "b-"+key, valueOf(m, "biz_key"))
			require.Equal(t, w.message(key, s.path).Value, m.Value)
			require.Equal(t, key, string(m.Key))
		}
		l := letters[key]
		require.Equal(t, map[string]idem.Outcome{"/busy": idem.OutcomeThrottled, "/silent": idem.OutcomeRetryable}[s.path], l.Outcome, key)
		require.Equal(t, reason, l.Reason, key)
		require.Equal(t, headersOf(s.retries), flat(l.Headers), "%s: dead letter", key)
		require.Equal(t, int32(s.retries), l.RetryCount)
	}
	require.Len(t, letters, len(messages))
}

// policyOf is a policy of headers, given name by name.
func policyOf(t *testing.T, headers []string) *idem.Policy {
	p := idem.DefaultPolicy()
	p.BackoffJitter = 0
	for i := 0; i < len(headers); i += 2 {
		n, err := strconv.Atoi(headers[i+1])
		switch headers[i] {
		case "backoff_base":
			p.BackoffBase = int32(n)
		case "backoff_jitter":
			p.BackoffJitter = int32(n)
		case "backoff_max":
			p.BackoffMax = int32(n)
		case "backoff_schedule":
			p.BackoffSchedule, err = []int32{300, 800}, nil
		}
		require.NoError(t, err)
	}
	return &p
}

func valueOf(m kafkago.Message, name string) string {
	for _, h := range m.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}

func headersOfMessage(m kafkago.Message) (all []string) {
	for _, h := range m.Headers {
		all = append(all, h.Key, string(h.Value))
	}
	return all
}

func flat(headers idem.Headers) (all []string) {
	for _, h := range headers {
		all = append(all, h.Name, string(h.Value))
	}
	return all
}

// xxh64 is XXH64 of seed 0 for less than 32 bytes, written from its description (github.com/Cyan4973/xxHash,
// doc/xxhash_spec.md), so that a jitter is computed twice.
func xxh64(text string) uint64 {
	const p1, p2, p3, p4, p5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
	b := []byte(text)
	if len(b) >= 32 {
		panic("for short texts")
	}
	h := uint64(p5) + uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		lane := bits.RotateLeft64(binary.LittleEndian.Uint64(b)*p2, 31) * p1
		h = bits.RotateLeft64(h^lane, 27)*p1 + p4
	}
	if len(b) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(b))*p1, 23)*p2 + p3
		b = b[4:]
	}
	for _, c := range b {
		h = bits.RotateLeft64(h^uint64(c)*p5, 11) * p1
	}
	h = (h ^ h>>33) * p2
	h = (h ^ h>>29) * p3
	return h ^ h>>32
}

// The values are those that the specification of XXH64, and its test vectors, publish.
func TestTheSecondXXH64IsOne(t *testing.T) {
	t.Parallel()
	require.Equal(t, uint64(0xEF46DB3751D8E999), xxh64(""))
	require.Equal(t, uint64(0xD24EC4F1A98C6E5B), xxh64("a"))
	require.Equal(t, uint64(0x44BC2CF5AD770999), xxh64("abc"))
}

// TestChecklistSchedulerTwice: the schedulers of three processes, and two more at a quick pace, publish each retry
// once.
func TestChecklistSchedulerTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	const keys, failures = 100, 3
	var mu sync.Mutex
	tries := map[string]int{}
	handler := func(ctx context.Context, tx pgx.Tx, _ *work) error {
		mu.Lock()
		tries[guard.KeyOf(ctx)]++
		n := tries[guard.KeyOf(ctx)]
		mu.Unlock()
		if n <= failures {
			return errors.New("not yet")
		}
		return effect(ctx, tx, "scheduled")
	}
	for range 3 {
		w.start(storeOf(t, w.connect(w.Database)), w.config(), consumer.Tx(handler, consumer.Route{Breaker: consumer.Breaker{Failures: -1}}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var schedulers sync.WaitGroup
	t.Cleanup(func() { cancel(); schedulers.Wait() })
	for range 2 {
		s, err := retry.NewScheduler(storeOf(t, w.connect(w.Database)), w.open(), retry.Config{Poll: 10 * time.Millisecond, Batch: 7})
		require.NoError(t, err)
		schedulers.Go(func() { _ = s.Run(ctx) }) // its end is the context's
	}
	for i := range keys {
		// All of a round fall due at once.
		w.send(w.message(fmt.Sprint("k", i), "", "max_retry", strconv.Itoa(failures), "backoff_schedule", "1200", "backoff_jitter", "0"))
	}
	w.judge()
	published := map[string]int{}
	for _, m := range w.read(broker.RetryTopic(w.Topic, w.Group)) {
		published[valueOf(m, "idempotency_key")+" "+valueOf(m, "retry_count")]++
	}
	require.Len(t, published, keys*failures)
	for retry, n := range published {
		require.Equal(t, 1, n, "retry %s was published %d times", retry, n)
	}
	require.Len(t, w.effects(), keys)
	require.Empty(t, w.letters())
}
