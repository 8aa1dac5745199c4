// Package guard takes one delivery, or a batch of them, from its bytes to its durable end: parse, claim,
// run, decide, settle. The package consumer drives it from a broker's partitions; those with a loop of their own
// (franz-go, sarama, a cron job) call Do or DoTx, and get the same protection.
//
// The steps, each over deliveries that the caller keeps and reuses:
//
//	Open      headers, key, policy; no I/O
//	Claim     one call to the store for the batch: who may run
//	Run       the handler, with its time limit, its heartbeat, its panics
//	RunTx     the same within the transaction that makes the record SUCCESS
//	Settle    what follows (idem.Decide), durable before anything is acknowledged
//	GiveBack  a claim returned, of a delivery that never started
//
// What a handler's effect is worth depends on the mode (DEDUP-032): Tx gives one effect; Guarded one effect
// on the guarded row; Idempotent at least one call, with KeyOf to pass on to whoever deduplicates behind it.
//
// Order, windows, offsets, decoding and concurrency are the caller's. A Guard may be used from many goroutines; a
// Delivery by one at a time.
package guard
