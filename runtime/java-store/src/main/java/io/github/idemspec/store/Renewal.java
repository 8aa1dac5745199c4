package io.github.idemspec.store;

import java.time.Duration;

/**
 * Extends a lease.
 *
 * @param lease the claim
 * @param length how long it holds, from the store's present
 */
public record Renewal(Lease lease, Duration length) {}
