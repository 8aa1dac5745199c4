/**
 * The store on PostgreSQL, by JDBC. What is kept and how is decided by the statements of the spec,
 * which are this package's resources; here are their parameters, and what their rows mean.
 */
package io.github.idemspec.store.postgres;
