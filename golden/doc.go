// Package golden is the home of what the plugin emits for the conformance messages (proto/idem/conformance), in
// every language, and of the tests of the Go. Regenerate it with `make generate`.
package golden
