/**
 * One delivery, or a batch of them: open, claim, run, decide, settle. A consumer of one's own needs
 * this and a store; {@code io.github.idemspec.kafka} is one.
 */
package io.github.idemspec.guard;
