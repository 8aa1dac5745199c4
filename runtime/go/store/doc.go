// Package store says what the runtime keeps, and which of it is written in one transaction: dedup records,
// the deliveries that are still to come (msg_retry), lanes that are parked, dead letters, and the outbox.
//
// The rules are spec chapter 9; the decision on a claim is Claim.Admit, here, for every store alike. What
// differs is where the bytes lie:
//
//	memory     one process; for tests and a first look
//	sqlite     one file; the embedded default
//	postgres   the truth where several processes share the work
//	redis      records alone, no follow-ups: publish first, then settle
//	tiered     redis in front, postgres as the truth
//	storetest  the suite that each of them passes
package store
