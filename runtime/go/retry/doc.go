// Package retry brings deliveries back when they are due.
//
// With a table (store.Retries) a Scheduler claims rows of msg_retry that are due, publishes them to the
// retry topic of their scope as they are, and removes those that the broker has confirmed. Any number of
// schedulers may run on one table.
//
// Without a table DelayTopics publishes each delivery to a topic of about its delay, and a Forwarder
// moves it from there to the retry topic once it is due.
//
// Either way a delivery may be published twice, which the guard's records make harmless, and none is
// lost.
//
// What it leaves to others: whether and when a message is tried again (package idem), writing the rows
// (package guard and the stores), waking held messages when a state moves (store.Retries.Wake, called by
// the consumer), and running the deliveries (package consumer).
package retry
