// Package kafka is the runtime's broker on Kafka's own server, by kafka-go: confirmed publication, and
// consumer groups by generations.
//
// It uses kafka-go's protocol, its ConsumerGroup and its Generation, and neither its Writer nor its
// Reader: a Reader's late commit after a rebalance sets a group back (kafka-go#1308), and it makes one of
// empty and null values. What it adds:
//
//   - Publish waits for all replicas in sync, tries again what may succeed, keeps the order within a key,
//     and chooses the partition as every stock producer does.
//   - Commit of a generation that is over commits nothing.
//   - The group's leader sees partitions that were added, from the moment it dealt them out.
//   - What an aborted transaction wrote is not delivered.
//   - Errors name the way to mend them, and no secret.
//
// Lag and LagMeter say how far a group is behind, partition by partition. Grow moves a topic to another one
// with more partitions, in steps that keep the order within each key.
package kafka
