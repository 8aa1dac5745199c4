// Package broker is what the runtime asks of a message broker, and nothing of any one of them: confirmed
// publication, and group membership by generations. Package kafka answers it with Kafka's own server;
// Memory, here, within one process, for tests and for a first look.
//
// What it leaves to others: which message may run, and what follows from it. (packages guard and consumer)
package broker
