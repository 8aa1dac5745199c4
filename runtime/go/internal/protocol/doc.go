// Package protocol searches a small world for what the rules of spec chapters 9 and 16 must never allow.
// Its test visits every state that can be reached, with the real store.Claim.Admit, idem.Admit and
// idem.Decide; what a store, a scheduler and a guard do around them is modelled here, one atomic step for
// each transaction, publication or acknowledgement. A rule that is taken out has to be found.
//
// The world: a message A that was published twice (two copies, one key), in some worlds a message B of the
// same lane; two workers; one scheduler or two; an operator who redrives a dead letter once. A worker takes
// a delivery, claims, runs the handler, settles, acknowledges. A handler ends in any way that it can: OK,
// RETRYABLE, OUT_OF_ORDER, NON_RETRYABLE. Routes are unordered, hold a failing message in place (Block), or
// park its lane (Park); what follows from a delivery is in the transaction of FAILED or DEAD, or is
// published first, to delay and dead-letter topics.
//
// Faults, up to a number for each world: a process crashes between any two steps; a claim's reply is lost;
// a lease ends while its worker goes on as a zombie; a scheduler's claim ends likewise, so that a row is
// published twice; a delivery is taken by a second worker after a rebalance while the first goes on. A
// lease without a worker, and a scheduler's claim without one, end by themselves.
//
// The invariants: no effect twice (mode Tx); under a live lease no other handler begins; a crash loop is
// declared only after crashes (two, where the runtime allows three and declares the fourth); in a lane no
// message of a first life overtakes one that entered before; a message ends as one SUCCESS or as a dead
// letter, never as both where they are one transaction; what is quiescent has ended so; and from every
// state an end can be reached, so that nothing is lost and nothing hangs. Reaching the limit of states is a
// failure, since then not everything was seen.
//
// What is not modelled: payloads and fingerprints, two keys of one message, forgetting and cleaning,
// renewals, positions in the log (the watermark, which the consumer's tests are about), the outbox, delays
// (whatever is due may come at any time, and what waits may wait for ever), a row's place when it is parked
// a second time, and the modes Guarded and Idempotent, whose effects are not in the store's transaction.
package protocol
