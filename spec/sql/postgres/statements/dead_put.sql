-- dead_put: write dead letters. One of the same delivery that still waits stays as it is; one that was redriven, or is
-- of an earlier life, is written anew: the delivery ends once more.
--
-- $1 text[]    scopes; no (scope, source) comes twice
-- $2 text[]    idempotency keys, empty where there is none
-- $3 text[]    event types
-- $4 text[]    biz keys
-- $5 text[]    event ids
-- $6 text[]    source topics
-- $7 int[]     source partitions
-- $8 bigint[]  source offsets
-- $9 int[]     redrive counts
-- $10 int[]    retry counts
-- $11 int[]    hold counts
-- $12 text[]   outcomes, such as NON_RETRYABLE
-- $13 text[]   reasons
-- $14 text[]   topics of origin
-- $15 text[]   headers, JSON
-- $16 bytea[]  keys of the messages
-- $17 bytea[]  payloads
INSERT INTO dead_letter AS d (scope, idempotency_key, event_type, biz_key, event_id, source_topic, source_partition, source_offset,
    redrive_count, retry_count, hold_count, outcome, reason, topic, headers, message_key, payload)
SELECT i.scope, i.key, i.event_type, i.biz_key, i.event_id, i.source_topic, i.source_partition, i.source_offset,
    i.redrive_count, i.retry_count, i.hold_count, i.outcome, i.reason, i.topic, i.headers, i.message_key, i.payload
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::bigint[], $9::int[], $10::int[], $11::int[],
            $12::text[], $13::text[], $14::text[], $15::text[], $16::bytea[], $17::bytea[]) WITH ORDINALITY
    AS i (scope, key, event_type, biz_key, event_id, source_topic, source_partition, source_offset, redrive_count, retry_count, hold_count,
          outcome, reason, topic, headers, message_key, payload, n)
ORDER BY i.n
ON CONFLICT (scope, source_topic, source_partition, source_offset, idempotency_key, sha256(coalesce(payload, ''))) DO UPDATE
SET created_at = excluded.created_at, redriven_at = NULL, idempotency_key = excluded.idempotency_key, event_type = excluded.event_type,
    biz_key = excluded.biz_key, event_id = excluded.event_id, redrive_count = excluded.redrive_count, retry_count = excluded.retry_count,
    hold_count = excluded.hold_count, outcome = excluded.outcome, reason = excluded.reason, topic = excluded.topic,
    headers = excluded.headers, message_key = excluded.message_key, payload = excluded.payload
WHERE d.redriven_at IS NOT NULL OR excluded.redrive_count > d.redrive_count
