// Package idem is the pure core of idem: what makes two messages the same message, and what a
// consumer does about it. Generated code calls it to render keys, and consumers call it to decide.
//
// It computes, and nothing else: no I/O, no goroutine, no clock, no random source, no reflection
// and no state between calls. Every function is safe for concurrent use, and the same arguments
// give the same bytes as the Java and the Python core do, which the conformance vectors prove.
//
// The outline, a file a concern:
//
//   - canonical texts: decimal.go, money.go, timestamp.go, duration.go, date.go, uuid.go,
//     integer.go, text.go, digest.go
//   - the key, and what is derived from it: key.go, hash.go, partition.go, fingerprint.go
//   - retries: policy.go, backoff.go, outcome.go, decide.go
//   - the dedup record and the state machine: admit.go, transition.go
//   - headers of Kafka, AMQP, HTTP and CloudEvents: header.go, header_*.go
//   - what foreign errors mean: classify_*.go
//
// # Appending
//
// The AppendX functions append the canonical text of one value to dst and return the longer slice,
// as append does. They do not allocate while dst has room. On an error they return dst at the
// length it came with, and an [*Error] whose Code says what is wrong; errors are not expected to
// be frequent, and building one allocates.
//
// A canonical text is also the component of a key, as it is: only free strings need escaping, and
// AppendString escapes.
package idem
