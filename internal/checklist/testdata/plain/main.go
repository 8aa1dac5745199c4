// Command plain is a service that somebody wrote by hand, without a runtime: a loop over Kafka, a table of keys, retries
// in place, and a topic of dead letters. By itself it does well in some faults; BUG gives it one of the bugs that such
// services have:
//
//	commits-before-effect  the offset is committed, and then the handler runs
//	no-dedup               nobody asks whether a key is known
//	wrong-delay            retries come after 100 ms, whatever the policy says
//	drops-poison           what cannot be read is logged, and forgotten
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"google.golang.org/protobuf/proto"

	refundsv1 "github.com/idem-spec/idem/examples/consume/gen/refunds/v1"
	"github.com/idem-spec/idem/runtime/go/idem"
)

var bug = os.Getenv("BUG")

type service struct {
	reader  *kafka.Reader
	letters *kafka.Writer
	db      *pgx.Conn
	bank    http.Client
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	brokers := strings.Split(os.Getenv("KAFKA_BROKERS"), ",")
	s := &service{bank: http.Client{Timeout: time.Second}}
	s.reader = kafka.NewReader(kafka.ReaderConfig{
		Brokers: brokers, GroupID: os.Getenv("GROUP"), Topic: os.Getenv("TOPIC"), StartOffset: kafka.FirstOffset,
		MaxWait: 100 * time.Millisecond, SessionTimeout: 6 * time.Second, HeartbeatInterval: 500 * time.Millisecond, RebalanceTimeout: 2 * time.Second,
	})
	defer s.reader.Close()
	s.letters = &kafka.Writer{Addr: kafka.TCP(brokers...), Topic: os.Getenv("DEAD_LETTERS"), BatchTimeout: time.Millisecond, RequiredAcks: kafka.RequireAll}
	var err error
	if s.db, err = pgx.Connect(ctx, os.Getenv("DATABASE_URL")); err != nil {
		return err
	}
	defer s.db.Close(context.WithoutCancel(ctx))
	for {
		m, err := s.reader.FetchMessage(ctx)
		if err != nil {
			return err
		}
		if bug == "commits-before-effect" {
			if err := s.reader.CommitMessages(ctx, m); err != nil {
				return err
			}
		}
		if err := s.take(ctx, m); err != nil {
			return err
		}
		if err := s.reader.CommitMessages(ctx, m); err != nil {
			return err
		}
	}
}

// take brings a message to its end: an effect, or a dead letter. An error ends the process, and it comes again.
func (s *service) take(ctx context.Context, m kafka.Message) error {
	headers := make(idem.Headers, len(m.Headers))
	for i, h := range m.Headers {
		headers[i] = idem.Header{Name: h.Key, Value: h.Value}
	}
	e, err := idem.ParseHeaders(idem.Kafka, headers)
	body := new(refundsv1.RefundAsked)
	if err == nil {
		err = proto.Unmarshal(m.Value, body)
	}
	if err == nil && body.GetOrderId() == "" {
		err = errors.New("no order")
	}
	if err != nil {
		return s.giveUp(ctx, m, err)
	}
	policy, err := idem.ResolvePolicy(e.Policy(), idem.DefaultPolicy(), idem.PartialPolicy{})
	if err != nil {
		return s.giveUp(ctx, m, err)
	}
	for n := int32(0); ; n++ {
		if err = s.handle(ctx, e.IdempotencyKey, body); err == nil || ctx.Err() != nil {
			return err
		}
		var unavailable *bankError
		if !errors.As(err, &unavailable) {
			return err
		}
		if n == policy.MaxRetry {
			return s.giveUp(ctx, m, err)
		}
		delay, err := idem.Backoff(e.IdempotencyKey, n, &policy, 0)
		if err != nil {
			return err
		}
		wait := time.Duration(delay.Ms()) * time.Millisecond
		if bug == "wrong-delay" {
			wait = 100 * time.Millisecond
		}
		time.Sleep(wait)
	}
}

func (s *service) giveUp(ctx context.Context, m kafka.Message, why error) error {
	log.Printf("given up: %v", why)
	if bug == "drops-poison" {
		return nil
	}
	return s.letters.WriteMessages(ctx, kafka.Message{Key: m.Key, Value: m.Value, Headers: m.Headers})
}

type bankError struct{ error }

func (s *service) handle(ctx context.Context, key string, m *refundsv1.RefundAsked) error {
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	if bug != "no-dedup" {
		tag, err := tx.Exec(ctx, `INSERT INTO seen (key) VALUES ($1) ON CONFLICT DO NOTHING`, key)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
	}
	if err := s.ask(ctx, key, m); err != nil {
		return &bankError{err}
	}
	if _, err := tx.Exec(ctx, `INSERT INTO refund (order_id, amount) VALUES ($1, $2)`, m.GetOrderId(), m.GetAmount()); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func (s *service) ask(ctx context.Context, key string, m *refundsv1.RefundAsked) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("BANK_URL"), strings.NewReader(m.GetOrderId()))
	if err != nil {
		return err
	}
	r.Header.Set("Idempotency-Key", key)
	answer, err := s.bank.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the bank answers %s", answer.Status)
	}
	return nil
}
