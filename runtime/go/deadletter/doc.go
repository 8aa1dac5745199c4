// Package deadletter redrives dead letters: it gives messages that ended another life, once what stopped
// them is repaired, and watches how many there are.
//
// A Redriver works on the table dead_letter (store.DeadLetters). FromTopic works on a dead-letter topic.
// Both select by key, event type, reason and time, count before they act, go no faster than they are told,
// and can be stopped and started again: a message keeps its key, so one that is redriven twice has one
// effect. (CONS-022)
//
// What it leaves to others: writing dead letters (package guard and the stores), publishing redriven
// rows (package retry), and admitting their deliveries (package guard).
package deadletter
