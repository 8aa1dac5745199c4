//go:build unix

// Command torture runs the runtime on real servers, as many processes, and does to them what happens to
// processes and servers: kill -9, stops longer than a lease, restarts, failovers, rebalances. Everything that
// is produced, called and done goes into a ledger, and package history says whether a promise was broken.
//
//	scripts/torture --duration 2m
//
// README.md says what is checked, and how to replay a seed.
package main
