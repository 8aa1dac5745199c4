// Package tiered puts a fast memory, Redis, in front of a database that is the truth.
//
//	truth, err := postgres.Open(ctx, dsn, postgres.Config{})
//	s := tiered.New(redis.New(client, redis.Config{}).Hints(), truth, tiered.Config{})
//
// The memory decides two things alone: a key is done (SUCCESS with an equal fingerprint), or is being worked on
// (a live PROCESSING). Either keeps a handler from running; that one may run is only ever the database's to
// say. So whatever the memory loses, by an eviction, a flush, a failover or a lost reply, costs a question to
// the database and never a second effect; and since SUCCESS is noted only after the database's commit, and by
// the very claim that made it, the memory does not lose a message either. (DEDUP-031)
//
// Where the memory is down or slow, the database is alone: nothing is rejected, idem_store_degraded is 1, and
// the memory is tried again from time to time. Only Forget needs it, since a key that is forgotten in the
// database alone would still be answered from memory: ErrHintsRemain.
//
// Not asked of the memory, since the database has to look at more than one row: claims of two keys, and claims
// of a route that parks.
//
// Two things are the operator's. Forget through this store, not in the database behind its back. And when a
// database comes back from a backup, or from a replica that had not all commits, flush the hints: they know of
// effects that are no longer there.
package tiered
