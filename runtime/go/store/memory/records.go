package memory

import "github.com/idem-spec/idem/runtime/go/store"

// entry is a record, and the call of Claim that claimed it last.
type entry struct {
	store.Record
	batch uint64
}

// records are the records of each scope. Calls are of one scope for the most part, which is remembered: then a key
// is all there is to hash. It is not safe for concurrent use.
type records struct {
	scopes map[string]map[string]*entry
	scope  string
	of     map[string]*entry // of scope; nil where it has none
	room   []entry           // for records to come, so that each is no allocation of its own
}

// roomFor is how many entries are made at a time, 8 KiB of them. They are let go of together.
const roomFor = 36

func newRecords() records { return records{scopes: make(map[string]map[string]*entry)} }

func (r *records) at(scope string) map[string]*entry {
	if scope != r.scope || r.of == nil {
		r.scope, r.of = scope, r.scopes[scope]
	}
	return r.of
}

// get is nil where there is none.
func (r *records) get(scope, key string) *entry { return r.at(scope)[key] }

func (r *records) put(record store.Record, batch uint64) {
	of := r.at(record.Scope)
	if of == nil {
		of = make(map[string]*entry)
		r.scopes[record.Scope], r.of = of, of
	}
	if len(r.room) == 0 {
		r.room = make([]entry, roomFor)
	}
	e := &r.room[0]
	r.room = r.room[1:]
	e.Record, e.batch = record, batch
	of[record.Key] = e
}
