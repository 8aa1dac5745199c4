// Package lag says how far consumer groups are behind, how that came about, and what to do. What happened before the
// first look is read from what Kafka keeps: the groups' commits, and where partitions ended at times past.
package lag
