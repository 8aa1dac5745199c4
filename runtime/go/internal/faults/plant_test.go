//go:build unix

package faults

import (
	"context"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/internal/plant"
	"github.com/idem-spec/idem/runtime/go/store"
)

// planted is the bug to put into all consumers, to see that a test finds it:
//
//	IDEM_FAULTS_PLANT=no-fence go test -run Zombie .               nobody says FENCED
//	IDEM_FAULTS_PLANT=early-commit go test -run Crash .            the offsets are there too soon
//	IDEM_FAULTS_PLANT=dedup-before-effect go test -run Server .    the first error loses the message
//	IDEM_FAULTS_PLANT=highest-offset go test -run TopicDown .       the dead letter is committed away
//	IDEM_FAULTS_PLANT=republish-unconfirmed go test -run TopicDown .  the same
//	IDEM_FAULTS_PLANT=lease-ignored go test -run Duplicate .        a duplicate is handled
//
// Those of package plant that are missing are not of this list's faults.
var planted = plant.Bug(os.Getenv("IDEM_FAULTS_PLANT"))

func plantedStore(s store.Store) store.Store {
	if full, ok := s.(store.Full[pgx.Tx]); ok && planted != "" {
		return plant.Store(planted, full, nil)
	}
	return s
}

func plantedBroker(b broker.Broker) broker.Broker {
	return plantedPublisher{plant.Broker(planted, b), plant.Publisher(planted, b)}
}

type plantedPublisher struct {
	broker.Broker
	publisher broker.Publisher
}

func (b plantedPublisher) Publish(ctx context.Context, messages []broker.Message) []error {
	return b.publisher.Publish(ctx, messages)
}
