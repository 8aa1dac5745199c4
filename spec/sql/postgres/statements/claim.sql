-- claim: make the records that are not there, and lock those that are, in one statement. (DEDUP-030)
--
-- The first row has the time, and in place of a fence how many records were made. Where those are all, it is the
-- only one: each key was new, and is claimed, with fence 1 and one attempt. Else those follow that were made, without
-- a fence; and those that were there, which are locked now and wait for the decision (record_write.sql).
-- What is in neither list is IN_PROGRESS: a row that another transaction has locked is passed over, and one that was
-- committed after this statement began cannot be seen.
-- Keys are inserted in the order of their bytes, and locks are not waited for: two batches never block each other.
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
WITH clock AS MATERIALIZED (
    SELECT t.now, t.now + $9 * interval '1 millisecond' AS expires_at
    FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS now OFFSET 0) t
), made AS (
    INSERT INTO idem_record AS r (scope, key, state, fence, attempts, owner, lease_until, fingerprint,
        redrive_count, retry_count, hold_count, position, created_at, updated_at, expires_at)
    SELECT i.scope, i.key, 1, 1, 1, i.owner, c.now + i.lease * interval '1 millisecond', i.fingerprint,
        i.redrive_count, i.retry_count, i.hold_count, i.retry_count::bigint + i.hold_count, c.now, c.now, c.expires_at
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::int[], $8::bigint[])
        AS i (scope, key, owner, fingerprint, redrive_count, retry_count, hold_count, lease)
    CROSS JOIN clock c
    ORDER BY i.scope COLLATE "C", i.key COLLATE "C"
    ON CONFLICT DO NOTHING
    RETURNING r.scope, r.key
), total AS MATERIALIZED (
    SELECT count(*) AS made, count(*) < cardinality($2) AS more FROM made
)
SELECT c.now, NULL::text AS scope, NULL::text AS key, t.made AS fence, NULL::smallint AS state, NULL::int AS attempts, NULL::text AS owner,
       NULL::int AS redrive_count, NULL::bigint AS position, NULL::timestamptz AS lease_until, NULL::text AS fingerprint, NULL::bytea AS result,
       NULL::int AS retry_count, NULL::int AS hold_count, NULL::timestamptz AS created_at, NULL::timestamptz AS updated_at, NULL::timestamptz AS expires_at
FROM clock c CROSS JOIN total t
UNION ALL
SELECT NULL, m.scope, m.key, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM made m
WHERE (SELECT more FROM total)
UNION ALL
SELECT NULL, r.scope, r.key, r.fence, r.state, r.attempts, r.owner, r.redrive_count, r.position, r.lease_until, r.fingerprint, r.result,
       r.retry_count, r.hold_count, r.created_at, r.updated_at, r.expires_at
FROM unnest($1::text[], $2::text[]) AS i (scope, key)
CROSS JOIN LATERAL (SELECT * FROM idem_record r WHERE r.scope = i.scope AND r.key = i.key FOR UPDATE SKIP LOCKED) r
WHERE (SELECT more FROM total)
