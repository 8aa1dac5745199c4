// Command pair is the Go runtime behind standard input and output, so that a runtime in another language can be
// tested beside it on one store: a claim made here has to be IN_PROGRESS there, and the reverse.
//
//	pair STORE_URL [KAFKA_BROKERS]
//
// STORE_URL is that of PostgreSQL, whose tables it migrates, or of Redis. A request is a line of JSON with one of the
// fields of request, and its answer a line with the field of the same meaning, or {"Error": "…"}. Times are
// nanoseconds, bytes are base64, as encoding/json has them.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/outbox"
	"github.com/idem-spec/idem/runtime/go/retry"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/postgres"
	idemredis "github.com/idem-spec/idem/runtime/go/store/redis"
)

type request struct {
	Claim    []store.Claim
	Complete []store.Completion
	Settle   []store.Settlement
	Renew    []store.Renewal
	Read     *read
	// Publish has the scheduler publish so many rows of msg_retry, and Relay the relay so many of the outbox.
	Publish, Relay int
}

type read struct {
	Scope string
	Keys  []string
}

type answer struct {
	Grants    []grant         `json:",omitempty"`
	Done      []bool          `json:",omitempty"`
	Settled   []int           `json:",omitempty"` // of store.Settled, whose slices encoding/json takes for bytes
	Records   []*store.Record `json:",omitempty"`
	Published int             `json:",omitempty"`
	Error     string          `json:",omitempty"`
}

// grant is a store.Grant with the verdict by its name.
type grant struct {
	Verdict string
	store.Grant
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pair:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return errors.New("usage: pair STORE_URL [KAFKA_BROKERS]")
	}
	s, err := open(ctx, args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	p := pair{store: s}
	if len(args) == 2 {
		b, err := kafka.Open(kafka.Config{Brokers: strings.Split(args[1], ",")})
		if err != nil {
			return err
		}
		defer b.Close()
		rows, ok := s.(store.Retries)
		if !ok {
			return fmt.Errorf("a %T has no retries for a scheduler", s)
		}
		if p.scheduler, err = retry.NewScheduler(rows, b, retry.Config{}); err != nil {
			return err
		}
		stored, ok := s.(store.Outbox)
		if !ok {
			return fmt.Errorf("a %T has no outbox for a relay", s)
		}
		if p.relay, err = outbox.NewRelay(stored, b, outbox.RelayConfig{}); err != nil {
			return err
		}
	}
	return p.serve(ctx)
}

func open(ctx context.Context, url string) (store.Store, error) {
	if strings.HasPrefix(url, "redis:") {
		o, err := redis.ParseURL(url)
		if err != nil {
			return nil, err
		}
		return idemredis.New(redis.NewClient(o), idemredis.Config{}), nil
	}
	s, err := postgres.Open(ctx, url, postgres.Config{})
	if err != nil {
		return nil, err
	}
	return s, s.Migrate(ctx)
}

type pair struct {
	store     store.Store
	scheduler *retry.Scheduler
	relay     *outbox.Relay
}

func (p *pair) serve(ctx context.Context) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var q request
		var a answer
		err := json.Unmarshal(lines.Bytes(), &q)
		if err == nil {
			a, err = p.do(ctx, &q)
		}
		if err != nil {
			a = answer{Error: err.Error()}
		}
		if err := out.Encode(&a); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (p *pair) do(ctx context.Context, q *request) (a answer, err error) {
	switch {
	case q.Claim != nil:
		var grants []store.Grant
		grants, err = p.store.Claim(ctx, q.Claim)
		for _, g := range grants {
			a.Grants = append(a.Grants, grant{g.Kind.String(), g})
		}
	case q.Complete != nil:
		a.Done, err = p.store.Complete(ctx, q.Complete)
	case q.Settle != nil:
		var settled []store.Settled
		settled, err = p.store.Settle(ctx, q.Settle)
		for _, one := range settled {
			a.Settled = append(a.Settled, int(one))
		}
	case q.Renew != nil:
		a.Done, err = p.store.Renew(ctx, q.Renew)
	case q.Read != nil:
		a.Records, err = p.store.Records(ctx, q.Read.Scope, q.Read.Keys)
	case q.Publish > 0:
		if p.scheduler == nil {
			return a, errNoBrokers
		}
		a.Published, err = publish(ctx, p.scheduler.Step, q.Publish)
	case q.Relay > 0:
		if p.relay == nil {
			return a, errNoBrokers
		}
		a.Published, err = publish(ctx, p.relay.Step, q.Relay)
	default:
		err = errors.New("the request asks for nothing")
	}
	return a, err
}

var errNoBrokers = errors.New("there are no brokers: pair STORE_URL KAFKA_BROKERS")

// publish waits for rows to fall due.
func publish(ctx context.Context, step func(context.Context) (int, error), want int) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for n < want {
		published, err := step(ctx)
		if n += published; err != nil {
			return n, err
		}
		if published == 0 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return n, nil
}
