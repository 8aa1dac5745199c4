// Package dial opens a store and a broker by their URLs, so that a program runs on one machine without any
// server, and on PostgreSQL and Kafka by another line. Programs that set timeouts, TLS or pools use the
// packages that it calls: store/sqlite, store/postgres, store/memory, kafka.
package dial

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/kafka"
	"github.com/idem-spec/idem/runtime/go/store"
	"github.com/idem-spec/idem/runtime/go/store/sqlite"
)

// Services are a store and a broker.
type Services struct {
	Store  store.Full[*sql.Tx]
	Broker broker.Broker
	// DB is the pool under the store on PostgreSQL; nil otherwise.
	DB *sql.DB
}

// Open opens both. Close them by Close. Each has to answer within 10 seconds, or PostgreSQL within the DSN's
// connect_timeout. Its error says what to mend.
func Open(ctx context.Context, storeURL, brokerURL string) (*Services, error) {
	s := &Services{}
	if err := s.open(ctx, storeURL, brokerURL); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Services) open(ctx context.Context, storeURL, brokerURL string) (err error) {
	if s.Store, s.DB, err = openStore(ctx, storeURL); err != nil {
		return err
	}
	s.Broker, err = Broker(brokerURL)
	return err
}

// Close closes what is open.
func (s *Services) Close() error {
	var errs []error
	if s.Broker != nil {
		errs = append(errs, s.Broker.Close())
	}
	if s.Store != nil {
		errs = append(errs, s.Store.Close())
	}
	if s.DB != nil {
		errs = append(errs, s.DB.Close())
	}
	return errors.Join(errs...)
}

// openStore knows two shapes, and brings the tables up to date: processes of the version before read them
// too. (VER-004)
//
//	sqlite:orders.db
//	postgres://user:password@host:5432/database
func openStore(ctx context.Context, address string) (store.Full[*sql.Tx], *sql.DB, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite":
		s, err := sqlite.Open(strings.TrimPrefix(rest, "//"), sqlite.Config{})
		if err != nil {
			return nil, nil, err
		}
		return s, nil, nil
	case "postgres", "postgresql":
		s, db, err := openPostgres(ctx, address, answerWithin)
		if err != nil {
			return nil, db, fmt.Errorf("open the store: %w", err)
		}
		return s, db, nil
	}
	return nil, nil, fmt.Errorf(`the store's URL %s: use "sqlite:FILE" or "postgres://…"`, beginning(scheme, address))
}

// Broker knows two shapes. In memory, a topic that is used gets 4 partitions.
//
//	memory:
//	kafka://host:9092,host:9092
func Broker(address string) (broker.Broker, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "memory":
		return broker.NewMemory(broker.MemoryConfig{Partitions: 4}), nil
	case "kafka":
		if strings.Contains(rest, "@") { // not shown: it is a password, for the most part
			return nil, errors.New("the broker's URL has an @: it is kafka://HOST:PORT,… alone; user and password are the SASL of kafka.Config, with kafka.Open")
		}
		brokers := strings.Split(strings.Trim(rest, "/ "), ",")
		for i := range brokers {
			brokers[i] = strings.TrimSpace(brokers[i])
		}
		b, err := kafka.Open(kafka.Config{Brokers: brokers})
		if err != nil {
			return nil, err // and no broker.Broker that holds a nil
		}
		return b, nil
	}
	return nil, fmt.Errorf(`the broker's URL %s: use "memory:" or "kafka://HOST:PORT,…"`, beginning(scheme, address))
}

// beginning says how a URL begins that is none of those known. What is no scheme may be anything, a password too.
func beginning(scheme, address string) string {
	for _, c := range scheme {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
			scheme = ""
		}
	}
	if scheme == "" || scheme == address {
		return "has no scheme"
	}
	return fmt.Sprintf("begins with %q", scheme)
}
