// Package bench measures generated Go, and the core below it, beside what a team would otherwise write:
// limit.go is the same key by hand, peer.go what others hash.
//
// It compiles once `scripts/bench --generate` has run: its messages are generated and not committed.
package bench
