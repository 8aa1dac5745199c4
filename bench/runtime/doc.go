// Command runtime measures idem's Go runtime beside its peers: Watermill's router, River, kafka-go's consumer group,
// and the same statements by hand with pgx. Each part is a process of its own, and prints JSON for bench/harness:
//
//	runtime [-quick] pipeline | claim | tx | latency | kafka | growth
//
// The contenders of a comparison take turns within one process, a round of each at a time. claim, tx, latency and
// growth want DATABASE_URL, and kafka KAFKA_BROKERS too; the parts make databases and topics of their own there, and
// remove them.
//
// It is a module of its own, so that peers are nobody's dependency but the benchmarks'.
package main
