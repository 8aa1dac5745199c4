-- record_lock: lock records in the order of their keys, and read them; rows that are not there are left out.
-- What is written to them afterwards in the same transaction was decided on what they are.
--
-- $1 text[]  scopes; no (scope, key) comes twice
-- $2 text[]  keys
WITH input AS MATERIALIZED (
    SELECT i.scope COLLATE "C" AS scope, i.key COLLATE "C" AS key
    FROM unnest($1::text[], $2::text[]) AS i (scope, key)
    ORDER BY 1, 2
)
SELECT date_trunc('milliseconds', clock_timestamp()), r.scope, r.key, r.fence, r.state, r.attempts, r.owner, r.redrive_count, r.position,
       r.lease_until, r.fingerprint, r.result, r.retry_count, r.hold_count, r.created_at, r.updated_at, r.expires_at
FROM input i
CROSS JOIN LATERAL (SELECT * FROM idem_record r WHERE r.scope = i.scope AND r.key = i.key FOR UPDATE) r
