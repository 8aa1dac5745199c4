-- claim: lock the records that exist, make those that do not, all in one statement. (DEDUP-030)
--
-- Rows that another transaction has locked are passed over, in the result too: their keys are IN_PROGRESS. So
-- are keys whose first claim was committed after this statement began, which it cannot see.
-- The first row has the time alone. What comes back without a fence was made by this statement: claimed, with fence
-- 1 and one attempt. What comes back with one was there, is locked, and waits for the decision (record_write.sql).
-- Keys are taken in the order of their bytes, so that two batches never wait for each other.
--
-- $1 text[]   scopes; no (scope, key) comes twice
-- $2 text[]   keys
-- $3 text[]   owners, the random token of each claim
-- $4 text[]   fingerprints, empty where there is none
-- $5 int[]    redrive counts
-- $6 int[]    retry counts
-- $7 int[]    hold counts
-- $8 bigint[] leases in milliseconds
-- $9 bigint   retention in milliseconds
-- $10 bigint  what expires_at is rounded up to, in milliseconds
WITH clock AS MATERIALIZED (
    SELECT t.now,
           date_bin($10 * interval '1 millisecond', t.now + $9 * interval '1 millisecond', 'epoch') + $10 * interval '1 millisecond' AS expires_at
    FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS now OFFSET 0) t
), input AS MATERIALIZED (
    SELECT i.scope COLLATE "C" AS scope, i.key COLLATE "C" AS key, i.owner, i.fingerprint, i.redrive_count, i.retry_count, i.hold_count, i.lease
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::int[], $8::bigint[])
        AS i (scope, key, owner, fingerprint, redrive_count, retry_count, hold_count, lease)
    ORDER BY 1, 2
), seen AS MATERIALIZED (
    SELECT i.scope, i.key, i.owner AS claimer, i.fingerprint AS claimed_fingerprint, i.redrive_count AS claimed_redrive_count,
           i.retry_count AS claimed_retry_count, i.hold_count AS claimed_hold_count, i.lease,
           r.fence, r.state, r.attempts, r.owner, r.redrive_count, r.position, r.lease_until, r.fingerprint, r.result,
           r.retry_count, r.hold_count, r.created_at, r.updated_at, r.expires_at
    FROM input i
    LEFT JOIN LATERAL (SELECT * FROM idem_record r WHERE r.scope = i.scope AND r.key = i.key FOR UPDATE SKIP LOCKED) r ON true
), made AS (
    INSERT INTO idem_record AS r (scope, key, state, fence, attempts, owner, lease_until, fingerprint,
        redrive_count, retry_count, hold_count, position, created_at, updated_at, expires_at)
    SELECT s.scope, s.key, 1, 1, 1, s.claimer, c.now + s.lease * interval '1 millisecond', s.claimed_fingerprint,
        s.claimed_redrive_count, s.claimed_retry_count, s.claimed_hold_count, s.claimed_retry_count::bigint + s.claimed_hold_count, c.now, c.now, c.expires_at
    FROM seen s CROSS JOIN clock c
    WHERE s.fence IS NULL
    ORDER BY s.scope, s.key
    ON CONFLICT DO NOTHING
    RETURNING r.scope, r.key
)
SELECT c.now, NULL::text, NULL::text, NULL::bigint, NULL::smallint, NULL::int, NULL::text, NULL::int, NULL::bigint, NULL::timestamptz, NULL::text,
       NULL::bytea, NULL::int, NULL::int, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz
FROM clock c
UNION ALL
SELECT NULL, m.scope, m.key, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM made m
UNION ALL
SELECT NULL, s.scope, s.key, s.fence, s.state, s.attempts, s.owner, s.redrive_count, s.position, s.lease_until, s.fingerprint, s.result,
       s.retry_count, s.hold_count, s.created_at, s.updated_at, s.expires_at
FROM seen s
WHERE s.fence IS NOT NULL
