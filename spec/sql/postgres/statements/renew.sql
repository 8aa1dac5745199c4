-- renew: extend leases that are still held, never shorten one, and say which: their places in the lists, from 1,
-- or 0 for all of them. (DEDUP-028)
--
-- $1 text[]   scopes; no (scope, key) comes twice
-- $2 text[]   keys
-- $3 bigint[] fences
-- $4 text[]   owners
-- $5 bigint[] times from now, in milliseconds
-- $6 bigint   retention in milliseconds
WITH clock AS MATERIALIZED (
    SELECT t.now, t.now + $6 * interval '1 millisecond' AS expires_at
    FROM (SELECT clock_timestamp() AS now OFFSET 0) t
), done AS (
    UPDATE idem_record r
    SET lease_until = greatest(r.lease_until, date_trunc('milliseconds', (SELECT now FROM clock) + i.lease * interval '1 millisecond')),
        updated_at = (SELECT now FROM clock), expires_at = greatest(r.expires_at, (SELECT expires_at FROM clock))
    FROM (SELECT i.*
          FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[]) WITH ORDINALITY AS i (scope, key, fence, owner, lease, n)
          ORDER BY i.scope COLLATE "C", i.key COLLATE "C") i
    WHERE r.scope = i.scope AND r.key = i.key AND r.fence = i.fence AND r.owner = i.owner AND r.state = 1
    RETURNING i.n
), total AS MATERIALIZED (
    SELECT count(*) < cardinality($2) AS less FROM done
)
SELECT 0::bigint FROM total WHERE NOT less
UNION ALL
SELECT d.n FROM done d WHERE (SELECT less FROM total)
