-- retry_lock: lock the rows of deliveries, and say how far on each is; those that are not there are left out.
-- A delivery that is behind its row makes no lane.
--
-- $1 text[]    scopes; no (scope, key, source) comes twice
-- $2 text[]    idempotency keys, empty where there is none
-- $3 text[]    source topics
-- $4 int[]     source partitions
-- $5 bigint[]  source offsets
SELECT i.n, r.redrive_count, r.retry_count::bigint + r.hold_count
FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[]) WITH ORDINALITY AS i (scope, key, source_topic, source_partition, source_offset, n)
CROSS JOIN LATERAL (
    SELECT * FROM msg_retry r
    WHERE r.scope = i.scope AND r.idempotency_key = i.key AND r.source_topic = i.source_topic
      AND r.source_partition = i.source_partition AND r.source_offset = i.source_offset
    FOR UPDATE) r
ORDER BY i.n
