-- record_write: write what was decided on records that this transaction has locked or made.
--
-- $1 text[]          scopes
-- $2 text[]          keys
-- $3 smallint[]      states
-- $4 bigint[]        fences
-- $5 int[]           attempts
-- $6 text[]          owners
-- $7 int[]           redrive counts
-- $8 bigint[]        positions
-- $9 int[]           retry counts
-- $10 int[]          hold counts
-- $11 timestamptz[]  ends of leases, null where there is none
-- $12 text[]         fingerprints
-- $13 bytea[]        results; null leaves the one there is
-- $14 timestamptz[]  expires_at
UPDATE idem_record r
SET state = i.state, fence = i.fence, attempts = i.attempts, owner = i.owner, redrive_count = i.redrive_count, position = i.position,
    retry_count = i.retry_count, hold_count = i.hold_count, lease_until = i.lease_until, fingerprint = i.fingerprint,
    result = coalesce(i.result, r.result), expires_at = i.expires_at, updated_at = clock_timestamp()
FROM unnest($1::text[], $2::text[], $3::smallint[], $4::bigint[], $5::int[], $6::text[], $7::int[], $8::bigint[], $9::int[], $10::int[],
            $11::timestamptz[], $12::text[], $13::bytea[], $14::timestamptz[])
    AS i (scope, key, state, fence, attempts, owner, redrive_count, position, retry_count, hold_count, lease_until, fingerprint, result, expires_at)
WHERE r.scope = i.scope AND r.key = i.key
