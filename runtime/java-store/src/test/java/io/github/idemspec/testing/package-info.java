/** What tests have on real servers: a database, topics and keys that nobody else uses, and Go beside. */
package io.github.idemspec.testing;
