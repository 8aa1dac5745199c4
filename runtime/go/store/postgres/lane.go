package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idem-spec/idem/runtime/go/store"
)

type laneID struct{ scope, topic, bizKey string }

func laneOf(scope string, l store.Lane) laneID { return laneID{scope, l.Topic, text(l.BizKey)} }

func columnsOf(lanes []laneID) (scopes, topics, bizKeys []string) {
	for _, l := range lanes {
		scopes, topics, bizKeys = append(scopes, l.scope), append(topics, l.topic), append(bizKeys, l.bizKey)
	}
	return scopes, topics, bizKeys
}

// lane is a row of idem_lane in a transaction, under lock where it is there.
type lane struct {
	head  string // empty: there is no such lane
	made  bool   // by this transaction, for the case that it is needed
	maker string // the key it was made with
	// left says that the head leaves it in this transaction: who heads it then is known to the server alone.
	left bool
}

// lanes are those of a transaction.
type lanes struct {
	order []laneID
	byID  map[laneID]*lane
}

func (l *lanes) add(id laneID) *lane {
	if at := l.byID[id]; at != nil {
		return at
	}
	if l.byID == nil {
		l.byID = make(map[laneID]*lane)
	}
	at := new(lane)
	l.order, l.byID[id] = append(l.order, id), at
	return at
}

// lock makes those that have a maker, and reads the heads of all. They are locked in the order of their names,
// and after the records, in each transaction of the store.
func (l *lanes) lock(w *work) {
	if len(l.order) == 0 {
		return
	}
	var making []laneID
	var heads []string
	for _, id := range l.order {
		if at := l.byID[id]; at.maker != "" {
			making, heads = append(making, id), append(heads, at.maker)
		}
	}
	read := func(rows pgx.Rows, more []any, each func(*lane)) error {
		var id laneID
		_, err := pgx.ForEachRow(rows, append([]any{&id.scope, &id.topic, &id.bizKey}, more...), func() error {
			at := l.byID[id]
			if at == nil {
				return fmt.Errorf("a row has the lane %q, which is none of the batch", id)
			}
			each(at)
			return nil
		})
		return err
	}
	if making != nil {
		scopes, topics, bizKeys := columnsOf(making)
		w.queue("lane_make", scopes, topics, bizKeys, heads).Query(func(rows pgx.Rows) error {
			return read(rows, nil, func(at *lane) { at.made = true })
		})
	}
	scopes, topics, bizKeys := columnsOf(l.order)
	w.queue("lane_lock", scopes, topics, bizKeys).Query(func(rows pgx.Rows) error {
		var head string
		return read(rows, []any{&head}, func(at *lane) {
			if !at.made { // one that was made counts once a settlement needs it
				at.head = head
			}
		})
	})
}

// release lets the next message of a lane go.
func release(w *work, id laneID, key string) {
	w.queue("lane_release", id.scope, id.topic, id.bizKey, key)
}

// undo removes those that were made and are not needed.
func (l *lanes) undo(w *work) {
	var unused []laneID
	for _, id := range l.order {
		if at := l.byID[id]; at.made && at.head == "" {
			unused = append(unused, id)
		}
	}
	if unused != nil {
		scopes, topics, bizKeys := columnsOf(unused)
		w.queue("lane_drop", scopes, topics, bizKeys)
	}
}

// SweepLanes lets go the next message of each lane whose head is done: its record is SUCCESS or DEAD, or it has
// no delivery to come and nothing of it has changed for the retention.
func (c *core) SweepLanes(ctx context.Context, limit int) (int, error) {
	var done []laneID
	var heads []string
	err := c.transact(ctx, work{}, func(w *work) error {
		done, heads = nil, nil
		w.queue("lane_sweep", max(limit, 0), c.config.Retention.Milliseconds()).Query(func(rows pgx.Rows) error {
			var id laneID
			var head string
			_, err := pgx.ForEachRow(rows, []any{&id.scope, &id.topic, &id.bizKey, &head}, func() error {
				done, heads = append(done, id), append(heads, head)
				return nil
			})
			return err
		})
		return nil
	}, func(w *work) error {
		for i, id := range done {
			release(w, id, heads[i])
		}
		return nil
	})
	if err != nil {
		return 0, named(fmt.Sprintf("sweep %d lanes", limit), err)
	}
	return len(done), nil
}
