// A support source of idem, https://github.com/idem-spec/idem. Generate again rather than edit a
// copy.

/**
 * The pure core of idem for Java: the keys, hashes, headers, delays and verdicts of the
 * specification, the same to the byte in every language.
 *
 * <p>Nothing here does I/O, reads a clock, or depends on the locale; a time is an argument.
 * Generated code calls {@link io.github.idemspec.v1.KeyBuilder} and {@link
 * io.github.idemspec.v1.ProducerHeaders}; a consumer calls {@link io.github.idemspec.v1.Headers},
 * {@link io.github.idemspec.v1.Admission}, {@link io.github.idemspec.v1.StateMachine}, {@link
 * io.github.idemspec.v1.Decision} and {@link io.github.idemspec.v1.NextHeaders}, in this order.
 * Every fault is an {@link io.github.idemspec.v1.IdemException}. Java 8 and nothing else is needed.
 */
package io.github.idemspec.v1;
