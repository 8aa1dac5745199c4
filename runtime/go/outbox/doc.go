// Package outbox publishes so that a message is confirmed by the broker or stored in the database, never
// neither.
//
// Publish asks the broker first and stores what it does not confirm. PublishTx stores in the caller's own
// transaction, so that the message and the business row are there together or not at all. A Relay, of
// which any number may run, publishes what is stored and removes it once it is confirmed. (CONS-023)
//
// # What holds about order
//
// Order is kept for each (topic, biz key), the message's Key; messages without one are in none. Where
// Publish(a) has returned, or the transaction of PublishTx(a) has committed, before Publish(b) or
// PublishTx(b) is called, in whatever process, a consumer sees a before it sees b for the first time. Not
// more: of two calls that overlap either may come first, and any message may come again later, so that a
// consumer can see a, b, a. Package guard makes the second a harmless.
//
// It holds because of three things. A row is removed only once its message is confirmed, so where no row is
// seen, all stored before is at the broker. Publish looks for rows before it publishes, and where there is
// one, also a failed one, it stores. And within a key a later row is not claimed while an earlier one is
// there that is claimed by another, waits, or has failed. It needs a store that reads what was committed: the
// primary, not a replica that lags. And transactions that store messages of one key have to be in order
// themselves: PublishTx after the business row is locked, not before.
//
// Where the database cannot be asked, nobody knows of rows: Publish tries to store, and where that fails too
// it refuses messages that have a key rather than break their order, unless Config.Unordered says that it
// does not matter.
//
// What it leaves to others: the headers of a message (generated code and package idem), and exactly one
// effect (package guard, at the consumer).
package outbox
