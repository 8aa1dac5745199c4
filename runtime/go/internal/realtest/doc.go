// Package realtest gives tests a place of their own on real servers: a fresh database, an empty logical
// database of Redis, topics that nobody else uses. The servers are those of DATABASE_URL, REDIS_URL,
// KAFKA_BROKERS and their kin, which are a user's own or those of scripts/services:
//
//	scripts/services start && eval "$(scripts/services env)" && go test ./runtime/go/...
//
// A test whose server is not there is skipped; where IDEM_TEST_REAL=1 it fails, so that nobody believes
// a run without servers to be one with them.
package realtest
