package bench

import (
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/idem-spec/idem/runtime/go/idem"
)

var (
	sinkDelay     idem.Delay
	sinkDecision  idem.Decision
	sinkAdmission idem.Admission
	sinkHeaders   idem.Headers
	sinkPolicy    idem.Policy
)

func check(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// must stops a benchmark's preparation.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func BenchmarkHash(b *testing.B) {
	key := []byte(settledKey)
	b.Run("idem", func(b *testing.B) {
		defer cpu(b)()
		for b.Loop() {
			sinkHash = idem.HashBytes(key)
		}
	})
	b.Run("limit", func(b *testing.B) {
		defer cpu(b)()
		for b.Loop() {
			sinkHash = xxhash.Sum64(key)
		}
	})
}

func BenchmarkShard(b *testing.B) {
	defer cpu(b)()
	for b.Loop() {
		shard, err := idem.Shard(shopKey, 12)
		check(b, err)
		sinkHash = uint64(shard)
	}
}

func BenchmarkFingerprint(b *testing.B) {
	x := succeeded()
	buf := make([]byte, 0, 64)
	defer cpu(b)()
	for b.Loop() {
		f, err := x.AppendIdemFingerprint(buf[:0])
		check(b, err)
		sinkByte = f[0]
	}
}

func BenchmarkBackoff(b *testing.B) {
	policy := succeeded().IdemPolicy()
	defer cpu(b)()
	for b.Loop() {
		delay, err := idem.Backoff(shopKey, 3, &policy, 0)
		check(b, err)
		sinkDelay = delay
	}
}

func BenchmarkDecide(b *testing.B) {
	policy := succeeded().IdemPolicy()
	counts := idem.Counts{Retry: 3}
	defer cpu(b)()
	for b.Loop() {
		decision, err := idem.Decide(idem.Result{Outcome: idem.OutcomeRetryable}, shopKey, counts, &policy)
		check(b, err)
		sinkDecision = decision
	}
}

func BenchmarkAdmit(b *testing.B) {
	fingerprint := must(succeeded().IdemFingerprint())
	record := idem.Record{
		State: idem.StateFailed, Fence: 2, Attempts: 2, Owner: "one", Position: 1, Fingerprint: fingerprint,
	}
	delivery := idem.Delivery{
		Position: 1, Fingerprint: fingerprint, Owner: "another", NowMs: 1000, LeaseMs: 30000,
		MaxAttempts: idem.MaxAttempts(5),
	}
	defer cpu(b)()
	for b.Loop() {
		sinkAdmission = idem.Admit(&record, &delivery)
	}
}

// producer is what a producer knows beside the message.
var producer = idem.Context{
	EventID: "0193f8a4-6d2e-7c3b-9a51-4f0e2b7c8d90", Topic: "payments",
	ProducedAt:  time.Date(2025, 1, 1, 4, 0, 0, 250000000, time.UTC),
	Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
}

func BenchmarkHeadersWrite(b *testing.B) {
	x := succeeded()
	defer cpu(b)()
	for b.Loop() {
		headers, err := x.IdemHeaders(producer)
		check(b, err)
		sinkHeaders = headers
	}
}

func BenchmarkHeadersParse(b *testing.B) {
	headers := must(succeeded().IdemHeaders(producer))
	var e idem.Envelope
	defer cpu(b)()
	for b.Loop() {
		check(b, e.Parse(idem.Kafka, headers))
	}
}

func BenchmarkPolicyResolve(b *testing.B) {
	e := must(idem.ParseHeaders(idem.Kafka, must(succeeded().IdemHeaders(producer))))
	schema := idem.DefaultPolicy()
	defer cpu(b)()
	for b.Loop() {
		policy, err := idem.ResolvePolicy(e.Policy(), schema, idem.PartialPolicy{})
		check(b, err)
		sinkPolicy = policy
	}
}

func BenchmarkHeadersNext(b *testing.B) {
	x := succeeded()
	headers := must(x.IdemHeaders(producer))
	policy := x.IdemPolicy()
	decision := must(idem.Decide(idem.Result{Outcome: idem.OutcomeRetryable}, shopKey, idem.Counts{}, &policy))
	next := decision.Next("billing", "payments", 1735704000000)
	buf := make(idem.Headers, 0, 32)
	defer cpu(b)()
	for b.Loop() {
		after, err := idem.AppendNext(buf[:0], idem.Kafka, headers, &next)
		check(b, err)
		sinkHeaders = after
	}
}
