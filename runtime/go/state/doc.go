// Package state is the SQL guard of a state machine over the user's own table: it moves one row from the
// state that a message expects to the state that it brings, or says why not. (STATE-010 to STATE-013)
//
//	orders := &state.Table{Name: "shop.orders", ID: "order_id", Status: "status", Version: "version"}
//
//	result, err := orders.Apply(ctx, tx, state.Move{
//		ID: msg.GetOrderId(), Key: key, Transition: msg.IdemTransition(), Verdict: msg.IdemVerdict,
//	})
//	if err == nil {
//		err = result.Err() // nil: the row has moved
//	}
//
// It runs in a *sql.Tx or a pgx.Tx, on PostgreSQL and on SQLite. The transaction is the caller's, with what
// else belongs to it: the handler's work and the dedup record in mode Tx, nothing else in mode Guarded. Nothing
// here begins, commits or rolls back.
//
// # What is written
//
// One statement where the row is in the expected state:
//
//	UPDATE t SET status = to [, version = version + 1] [, last_idempotency_key = key] [, ...]
//	WHERE id = … AND status = from
//
// Where that changes nothing, the row is locked by SELECT … FOR UPDATE (SQLite's update has locked the file by
// then), and the generated IdemVerdict decides on what it holds. So of two that move one row at once, the
// second waits, and finds the row as the first one left it.
//
// # Rows that are not there
//
// A missing row is the state "", and a creation is a transition from "". Who inserts the row is Table.Creates:
// by default the handler, in the same transaction, after Apply has said APPLY; or the guard, from Move.Set. A
// row whose status is NULL is in the state "" too, and is updated.
//
// # Superseded
//
// DUPLICATE says that the row is in the state already, or past it. Where another key brought it there, this
// message is superseded: acknowledged and counted, or dead-lettered where the schema says
// ON_SUPERSEDED_DEAD_LETTER. Only a table with LastKey can tell one's own earlier work from another's; without
// it every DUPLICATE that gets as far as the guard counts as superseded, since the dedup record has answered
// for keys that succeeded.
//
// # What it leaves to others
//
// When the guard runs, in which transaction, and what is done about a verdict is the consumer's. It also wakes
// the messages that were held for the state (STATE-012), by store.Retries.Wake, once the move is committed.
package state
