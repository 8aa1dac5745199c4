package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idem-spec/idem/runtime/go/idem"
	"github.com/idem-spec/idem/runtime/go/store"
)

type recordID struct{ scope, key string }

// presence is where a record is.
type presence uint8

const (
	nowhere presence = iota // not in the answer
	found                   // it was there, and is locked
	fresh                   // the statement made it
)

// entry is a record in a transaction, under lock.
type entry struct {
	store.Record
	claim   int32 // the first claim that asked for it
	there   presence
	claimed bool // by a claim of this batch
	kept    bool // Record is what was decided, also where it was made
	dirty   bool // Record is not what the database has
	result  bool // the result is to be written
}

// records are those of a transaction, each once, in the order of their first mention.
type records struct {
	list []*entry
	byID map[recordID]*entry
	slab []entry
}

func newRecords(n int) records {
	return records{list: make([]*entry, 0, n), byID: make(map[recordID]*entry, n), slab: make([]entry, 0, n)}
}

func (r *records) add(scope, key string, claim int32) *entry {
	id := recordID{scope, key}
	if e := r.byID[id]; e != nil {
		return e
	}
	var e *entry
	if len(r.slab) < cap(r.slab) { // entries lie together, and do not move
		r.slab = r.slab[:len(r.slab)+1]
		e = &r.slab[len(r.slab)-1]
	} else {
		e = new(entry)
	}
	e.Scope, e.Key, e.claim = scope, key, claim
	r.list, r.byID[id] = append(r.list, e), e
	return e
}

// find takes the bytes of the answer as they are.
func (r *records) find(scope, key []byte) *entry {
	return r.byID[recordID{string(scope), string(key)}]
}

// lock reads and locks records, in one statement. now is the server's present.
func (r *records) lock(w *work, now *time.Time) {
	if len(r.list) == 0 {
		return
	}
	scopes, keys := make([]string, len(r.list)), make([]string, len(r.list))
	for i, e := range r.list {
		scopes[i], keys[i] = e.Scope, e.Key
	}
	w.queue("record_lock", scopes, keys).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			raw := rows.RawValues()
			e := r.find(raw[1], raw[2])
			if e == nil {
				return fmt.Errorf("a row has the key %q, which is none of the batch", raw[2])
			}
			if err := e.scan(rows, now); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// scan reads a row whose first column is first, and the others those of a record.
func (e *entry) scan(rows pgx.Rows, first any) error {
	var state int16
	var attempts, redrives int32
	var lease *time.Time
	r := &e.Record
	err := rows.Scan(first, &r.Scope, &r.Key, &r.Fence, &state, &attempts, &r.Owner, &redrives, &r.Position, &lease, &r.Fingerprint,
		&r.Result, &r.RetryCount, &r.HoldCount, &r.CreatedAt, &r.UpdatedAt, &r.ExpiresAt)
	r.State, r.Attempts, r.RedriveCount = idem.State(state), int64(attempts), int64(redrives)
	if lease != nil {
		r.LeaseUntilMs = lease.UnixMilli()
	}
	e.there, e.kept = found, true
	return err
}

// write sends what was decided: the records that changed, and the end of those that were made for nothing.
func (r *records) write(w *work) {
	var c recordColumns
	var scopes, keys []string
	for _, e := range r.list {
		switch {
		case e.dirty:
			c.add(e)
		case e.there == fresh && !e.kept:
			scopes, keys = append(scopes, e.Scope), append(keys, e.Key)
		}
	}
	if len(c.keys) > 0 {
		w.queue("record_write", c.scopes, c.keys, c.states, c.fences, c.attempts, c.owners, c.redrives, c.positions, c.retries, c.holds,
			c.leases, c.fingerprints, c.results, c.expires)
	}
	if len(keys) > 0 {
		w.queue("record_undo", scopes, keys)
	}
}

// recordColumns are the parameters of record_write.
type recordColumns struct {
	scopes, keys, owners, fingerprints []string
	states                             []int16
	attempts, redrives, retries, holds []int32
	fences, positions                  []int64
	leases                             []*time.Time
	results                            [][]byte
	expires                            []time.Time
}

func (c *recordColumns) add(e *entry) {
	c.scopes, c.keys = append(c.scopes, e.Scope), append(c.keys, e.Key)
	c.owners, c.fingerprints = append(c.owners, e.Owner), append(c.fingerprints, e.Fingerprint)
	c.states = append(c.states, int16(e.State))
	c.attempts, c.redrives = append(c.attempts, clamp(e.Attempts)), append(c.redrives, clamp(e.RedriveCount))
	c.retries, c.holds = append(c.retries, e.RetryCount), append(c.holds, e.HoldCount)
	c.fences, c.positions = append(c.fences, e.Fence), append(c.positions, e.Position)
	var lease *time.Time
	if e.LeaseUntilMs != 0 {
		t := time.UnixMilli(e.LeaseUntilMs)
		lease = &t
	}
	c.leases, c.expires = append(c.leases, lease), append(c.expires, e.ExpiresAt)
	var result []byte
	if e.result {
		result = e.Result
	}
	c.results = append(c.results, result)
}

// clamp is for counts that a column of 32 bits holds; attempts and redrives beyond it are none that can happen.
func clamp(v int64) int32 { return int32(min(max(v, 0), 1<<31-1)) }

// Records reads records.
func (c *core) Records(ctx context.Context, scope string, keys []string) ([]*store.Record, error) {
	records := make([]*store.Record, len(keys))
	if len(keys) == 0 {
		return records, nil
	}
	err := c.transact(ctx, work{}, func(w *work) error {
		w.queue("record_read", scope, keys).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var n int64
				var e entry
				if err := e.scan(rows, &n); err != nil {
					return err
				}
				records[n-1] = &e.Record
			}
			return rows.Err()
		})
		return nil
	})
	if err != nil {
		return nil, named(fmt.Sprintf("read %d records", len(keys)), err)
	}
	return records, nil
}

// Forget leaves a tombstone of each key, so that fences never start again. (DEDUP-025)
func (c *core) Forget(ctx context.Context, scope string, keys []string) (int, error) {
	n, err := c.change(ctx, "forget", scope, keys, c.config.Retention.Milliseconds())
	if err != nil {
		return 0, named(fmt.Sprintf("forget %d keys", len(keys)), err)
	}
	return n, nil
}

// change runs one statement in a transaction, and says how many rows it changed.
func (c *core) change(ctx context.Context, name string, args ...any) (n int, err error) {
	err = c.transact(ctx, work{}, func(w *work) error {
		w.queue(name, args...).Exec(func(tag pgconn.CommandTag) error {
			n = int(tag.RowsAffected())
			return nil
		})
		return nil
	})
	return n, err
}

// ask runs one statement in a transaction that answers one value.
func ask[T any](ctx context.Context, c *core, name string, args ...any) (value T, err error) {
	err = c.transact(ctx, work{}, func(w *work) error {
		w.queue(name, args...).QueryRow(func(row pgx.Row) error { return row.Scan(&value) })
		return nil
	})
	return value, err
}

// list runs one statement in a transaction, and reads a row at a time.
func list[T any](ctx context.Context, c *core, plans, name string, read pgx.RowToFunc[T], args ...any) (all []T, err error) {
	err = c.transact(ctx, work{plans: plans}, func(w *work) error {
		w.queue(name, args...).Query(func(rows pgx.Rows) (err error) {
			all, err = pgx.AppendRows(all[:0], rows, read)
			return err
		})
		return nil
	})
	return all, err
}

// places runs one statement in a transaction that answers with places in a list of n, from 1, or
// with 0 for all of them.
func (c *core) places(ctx context.Context, n int, name string, args ...any) ([]bool, error) {
	there := make([]bool, n)
	err := c.transact(ctx, work{}, func(w *work) error {
		clear(there)
		w.queue(name, args...).Query(func(rows pgx.Rows) error { return readPlaces(rows, there) })
		return nil
	})
	return there, err
}

func readPlaces(rows pgx.Rows, there []bool) error {
	var n int64
	_, err := pgx.ForEachRow(rows, []any{&n}, func() error {
		if n == 0 {
			for i := range there {
				there[i] = true
			}
			return nil
		}
		there[n-1] = true
		return nil
	})
	return err
}
