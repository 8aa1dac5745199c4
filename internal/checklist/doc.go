// Package checklist runs the checklist of faults against somebody's own service: a process in any language that
// consumes a Kafka topic. It is told of the service by an adapter, a YAML file: how to start it, what to send to it, and
// where its effects are seen. The checklist hosts what the service talks to (an HTTP server that is its downstream,
// proxies before PostgreSQL and Redis), injects each fault, waits until all is quiet, and judges by package history that
// nothing was lost, nothing was done twice, and no committed offset went back.
//
// The outline: adapter.go is what a user writes, message.go makes messages of it; service.go runs the processes,
// downstream.go, proxy.go, gate.go and database.go are what they talk to; effects.go, letters.go and offsets.go are what
// is seen; trial.go is one fault and its judgement; fault_*.go are the faults; run.go runs them and report_*.go tell.
//
// A fault that was not seen to happen is never green.
package checklist
