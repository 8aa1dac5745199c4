//go:build race

package protocol

// raced says that the race detector slows the search down, so that worlds are smaller.
const raced = true
