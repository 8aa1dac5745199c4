-- record_read: read records without a lock, each with its place among the keys, from 1.
--
-- $1 text    scope
-- $2 text[]  keys
SELECT i.n, r.scope, r.key, r.fence, r.state, r.attempts, r.owner, r.redrive_count, r.position,
       r.lease_until, r.fingerprint, r.result, r.retry_count, r.hold_count, r.created_at, r.updated_at, r.expires_at
FROM unnest($2::text[]) WITH ORDINALITY AS i (key, n)
CROSS JOIN LATERAL (SELECT * FROM idem_record r WHERE r.scope = $1::text AND r.key = i.key OFFSET 0) r
