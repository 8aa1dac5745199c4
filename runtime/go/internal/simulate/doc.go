// Package simulate runs the whole runtime (producers with their outbox, relays, consumers of every mode and
// order, schedulers, redrives) on the broker and the store of one process, in a bubble of fake time, on
// schedules of chance: calls fail before or after they were done, processes are killed at any of them or stopped
// past their leases, the group rebalances, the store's clock jumps, handlers fail, panic and are slow. Then all is
// calm, and what happened is judged by package history.
//
// A seed decides a schedule: what is done when, and which call of which process fails. What Go's scheduler decides
// is not in it, so a failure may need some repetitions of its seed. It ends with what happened, step by step:
//
//	GOMAXPROCS=1 go test ./runtime/go/internal/simulate -run 'TestSchedule$' -seed 4711 -times 100
package simulate
