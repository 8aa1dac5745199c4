-- clean: remove the expired records of a slice: of pages $1 to $2 of the table, or of each partition. Of those that are PROCESSING a
-- tombstone remains. (DEDUP-025)
--
-- There is no index on expires_at, which each claim would pay for: a cleaner reads the table, a slice after the other.
-- The answer is the time; how many records were removed or buried; and where those are fewer than the limit, how many
-- that have expired are left, locked by others, and when the next one expires, null where there is none. Until then, or
-- for the retention where that is shorter, nothing of this slice can expire: what is written later expires later. So
-- each slice is read when its time has come, and hardly ever in vain. See spec/sql/README.md for the pace.
--
-- The planner knows nothing of the parameters; of the 10000 that no slice has, it knows that those rows
-- can be hashed. "IS TRUE" keeps it from a join, which would look each row up in all partitions.
--
-- $1 bigint  the first page
-- $2 bigint  the page behind the last one
-- $3 int     at most so many records
-- $4 bigint  retention in milliseconds
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), expired AS MATERIALIZED (
    SELECT l.part, l.place, l.state
    FROM (
        SELECT r.tableoid AS part, r.ctid AS place, r.state
        FROM idem_record r
        WHERE r.ctid >= ('(' || $1::bigint || ',0)')::tid AND r.ctid < ('(' || $2::bigint || ',0)')::tid
          AND r.expires_at <= (SELECT now FROM clock)
        LIMIT $3
        FOR UPDATE SKIP LOCKED
    ) l
    LIMIT 10000
), removed AS (
    DELETE FROM idem_record r
    WHERE r.ctid >= ('(' || $1::bigint || ',0)')::tid AND r.ctid < ('(' || $2::bigint || ',0)')::tid
      AND ((r.tableoid, r.ctid) IN (SELECT e.part, e.place FROM expired e WHERE e.state <> 1)) IS TRUE
    RETURNING 1
), buried AS (
    UPDATE idem_record r
    SET state = 3, fence = CASE WHEN r.fence < 9223372036854775807 THEN r.fence + 1 ELSE r.fence END,
        attempts = 0, owner = '', redrive_count = 0, position = 0, retry_count = 0, hold_count = 0, lease_until = NULL, fingerprint = '',
        result = NULL, updated_at = clock_timestamp(), expires_at = clock_timestamp() + $4 * interval '1 millisecond'
    WHERE r.ctid >= ('(' || $1::bigint || ',0)')::tid AND r.ctid < ('(' || $2::bigint || ',0)')::tid
      AND r.state = 1 AND ((r.tableoid, r.ctid) IN (SELECT e.part, e.place FROM expired e WHERE e.state = 1)) IS TRUE
    RETURNING 1
), done AS (
    SELECT (SELECT count(*) FROM removed) + (SELECT count(*) FROM buried) AS n
)
SELECT c.now, d.n, s.expired - d.n, s.next
FROM clock c
CROSS JOIN done d
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE r.expires_at <= c.now) AS expired, min(r.expires_at) FILTER (WHERE r.expires_at > c.now) AS next
    FROM idem_record r
    WHERE r.ctid >= ('(' || $1::bigint || ',0)')::tid AND r.ctid < ('(' || $2::bigint || ',0)')::tid
      AND (SELECT count(*) < $3 FROM expired)
) s
