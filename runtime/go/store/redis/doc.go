// Package redis keeps dedup records in Redis 6 or later, one node or a Cluster, and nothing else: retries and
// dead letters are published and confirmed before a record is settled (FollowUps is false), and there are no
// lanes, so that a route cannot park.
//
//	s := redis.New(client, redis.Config{})
//
// What it guarantees is less than a database does. Redis acknowledges before a write is on a disk or on a
// replica: a flush, an eviction, or a failover takes records back, and the effects of those keys can happen
// a second time. Check refuses a server that evicts. Where an effect must not double, put Redis in front of a
// database (store/tiered), with the Hints of this package.
//
// Every step of a record is one Lua script, in spec/redis, run by EVALSHA; batches are pipelined. Redis' own
// TIME is the clock of leases. A record is one hash, whose key has the hash tag {scope:key}, and expires by
// itself, a PROCESSING never before its lease.
//
// A claim and its previous key are two slots on a Cluster, which no script can change together:
// ErrTwoSlots. On a single node they are one step.
package redis
