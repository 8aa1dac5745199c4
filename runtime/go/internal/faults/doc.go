// Package faults is the checklist of faults that the runtime withstands, on real Kafka, PostgreSQL and Redis: a
// consumer as its users run it, a fault, and then the judgement of package history that nothing is lost, nothing is
// done twice, and no committed offset goes back. Each line of the checklist is a test, TestChecklist….
//
// Its tests are skipped, with the reason, where the servers are not there; see package realtest.
//
// Not here: the line of one message to consumers in Go, Java and Python, whose runtimes have no stores yet.
package faults
