-- retry_list: deliveries to come behind an id, in the order of ids. It skips from one kind to the next, and takes the
-- first of each that fits. Those of a key are found by retry_find.sql, and those whose reason has a detail by
-- retry_walk.sql. The last column says whether a scheduler has claimed it.
--
-- $1 text   scope; empty: all
-- $2 text   event type; empty: all
-- $3 text   action, such as RETRY; empty: all
-- $4 text   status, PENDING or PARKED; empty: all
-- $5 text   the code of the reason; empty: all
-- $6 bigint behind this id
-- $7 int    at most so many
WITH RECURSIVE kinds AS (
    (SELECT r.kind, r.scope, r.event_type, r.action, r.status FROM msg_retry r WHERE r.kind IS NOT NULL ORDER BY r.kind LIMIT 1)
    UNION ALL
    SELECT n.* FROM kinds k CROSS JOIN LATERAL (
        SELECT r.kind, r.scope, r.event_type, r.action, r.status
        FROM msg_retry r
        WHERE r.kind > CASE WHEN $5::text = '' THEN k.kind ELSE k.kind | 63 END -- of others but for the code
        ORDER BY r.kind
        LIMIT 1
    ) n
), wanted AS MATERIALIZED (
    SELECT CASE WHEN $5::text = '' THEN k.kind ELSE (k.kind & -64) | (hashtextextended($5::text, 0) & 63) END AS kind
    FROM kinds k
    WHERE ($1::text = '' OR k.scope = $1::text)
      AND ($2::text = '' OR k.event_type = $2::text)
      AND ($3::text = '' OR k.action = $3::text)
      AND ($4::text = '' OR k.status = $4::text)
), found AS MATERIALIZED (
    SELECT f.id
    FROM wanted w CROSS JOIN LATERAL (
        SELECT r.id
        FROM msg_retry r
        WHERE (r.kind, r.id) > (w.kind, $6) AND r.kind <= w.kind -- no equality, by which another index had the order too
          AND ($5::text = '' OR split_part(r.reason, ':', 1) = $5::text) -- other codes have the same bits
        ORDER BY r.kind, r.id
        LIMIT $7
    ) f
    ORDER BY f.id
    LIMIT $7
)
SELECT r.id, r.scope, r.idempotency_key, r.event_type, r.biz_key, r.msg_id, r.source_topic, r.source_partition, r.source_offset,
    r.redrive_count, r.retry_count, r.hold_count, r.action, r.reason, r.topic, r.message_key, r.headers, r.payload, r.next_retry_time,
    r.lane_topic, r.lane_key, r.publications, r.created_at, r.status, CASE WHEN r.claimed_until > clock_timestamp() THEN r.token ELSE '' END
FROM found f JOIN msg_retry r ON r.id = f.id
ORDER BY r.id
