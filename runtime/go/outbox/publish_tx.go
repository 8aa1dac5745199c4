package outbox

import (
	"context"
	"fmt"

	"github.com/idem-spec/idem/runtime/go/broker"
	"github.com/idem-spec/idem/runtime/go/store"
)

// PublishTx stores messages in the caller's transaction, of the store s: they are published once it has
// committed, and never where it rolls back. Call it after the business row is locked, so that messages of
// one key are stored in the order of its transactions. In a handler tx is the handler's own. In a test with an
// idemtest.World the store is
//
//	w.Store().(store.Transactor[*sql.Tx])
func PublishTx[Tx any](ctx context.Context, b *Outbox, s store.Transactor[Tx], tx Tx, messages ...broker.Message) error {
	stamped, err := b.prepare(messages)
	if err != nil {
		return fmt.Errorf("publish in the transaction: %w", err)
	}
	if len(stamped) == 0 {
		return nil
	}
	if err := s.StoreTx(ctx, tx, rowsOf(stamped, nil)); err != nil {
		return fmt.Errorf("publish in the transaction: store %d messages: %w", len(stamped), err)
	}
	return nil
}
