-- complete: make the records of claims SUCCESS that are still held, and say which: their places in the lists, from 1,
-- or 0 for all of them. Claims of two keys take record_lock.sql and record_write.sql, so that both or neither are
-- written. (DEDUP-020)
--
-- A row matches one claim alone, so two batches never wait for each other's rows.
--
-- $1 text[]   scopes; no (scope, key) comes twice
-- $2 text[]   keys
-- $3 bigint[] fences
-- $4 text[]   owners
-- $5 bytea[]  results, null where there is none
-- $6 bigint   retention in milliseconds
WITH clock AS MATERIALIZED (
    SELECT t.now, t.now + $6 * interval '1 millisecond' AS expires_at
    FROM (SELECT clock_timestamp() AS now OFFSET 0) t
), done AS (
    UPDATE idem_record r
    SET state = 2, result = i.result, lease_until = NULL, updated_at = (SELECT now FROM clock), expires_at = greatest(r.expires_at, (SELECT expires_at FROM clock))
    FROM (SELECT i.*
          FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bytea[]) WITH ORDINALITY AS i (scope, key, fence, owner, result, n)
          ORDER BY i.scope COLLATE "C", i.key COLLATE "C") i
    WHERE r.scope = i.scope AND r.key = i.key AND r.fence = i.fence AND r.owner = i.owner AND r.state = 1
    RETURNING i.n
), total AS MATERIALIZED (
    SELECT count(*) < cardinality($2) AS less FROM done
)
SELECT 0::bigint FROM total WHERE NOT less
UNION ALL
SELECT d.n FROM done d WHERE (SELECT less FROM total)
