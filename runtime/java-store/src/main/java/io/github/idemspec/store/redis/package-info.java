/**
 * The store on Redis, by Jedis. What is kept and how is decided by the scripts of the spec, which are
 * this package's resources. Redis alone may double an effect, when a flush, an eviction or a failover
 * takes a record back.
 */
package io.github.idemspec.store.redis;
