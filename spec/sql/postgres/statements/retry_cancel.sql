-- retry_cancel: make dead letters of deliveries to come, and DEAD their records where they wait for that delivery: a
-- lane that it heads goes on, and a redrive gives it another life. A redrive of a message that was TOO_OLD is so once more,
-- since nobody knows whether it had its effect. What a scheduler publishes just now is left.
--
-- $1 bigint[]  ids
-- $2 text      the reason of the dead letters
-- $3 bigint    retention in milliseconds
WITH picked AS MATERIALIZED (
    SELECT r.*
    FROM (SELECT DISTINCT i AS id FROM unnest($1::bigint[]) AS i ORDER BY 1) i
    CROSS JOIN LATERAL (SELECT * FROM msg_retry r
                        WHERE r.id = i.id AND (r.claimed_until IS NULL OR r.claimed_until <= clock_timestamp()) FOR UPDATE) r
), buried AS (
    INSERT INTO dead_letter AS d (scope, idempotency_key, event_type, biz_key, event_id, source_topic, source_partition, source_offset,
        redrive_count, retry_count, hold_count, outcome, reason, topic, headers, message_key, payload)
    SELECT p.scope, p.idempotency_key, p.event_type, p.biz_key, p.msg_id, p.source_topic, p.source_partition, p.source_offset,
        p.redrive_count, p.retry_count, p.hold_count,
        CASE WHEN EXISTS (SELECT FROM dead_letter o
                          WHERE o.scope = p.scope AND o.source_topic = p.source_topic AND o.source_partition = p.source_partition
                            AND o.source_offset = p.source_offset AND o.idempotency_key = p.idempotency_key AND o.outcome = 'TOO_OLD')
             THEN 'TOO_OLD' ELSE 'NON_RETRYABLE' END, $2::text,
        CASE WHEN right(p.topic, length('.retry.' || p.scope)) = '.retry.' || p.scope
             THEN left(p.topic, -length('.retry.' || p.scope)) ELSE p.topic END,
        p.headers, p.message_key, p.payload
    FROM picked p
    ORDER BY p.id
    ON CONFLICT (scope, source_topic, source_partition, source_offset, idempotency_key, sha256(coalesce(payload, ''))) DO UPDATE
    SET created_at = excluded.created_at, redriven_at = NULL, idempotency_key = excluded.idempotency_key, event_type = excluded.event_type,
        biz_key = excluded.biz_key, event_id = excluded.event_id, redrive_count = excluded.redrive_count, retry_count = excluded.retry_count,
        hold_count = excluded.hold_count, outcome = excluded.outcome, reason = excluded.reason, topic = excluded.topic,
        headers = excluded.headers, message_key = excluded.message_key, payload = excluded.payload
), ended AS (
    UPDATE idem_record r
    SET state = 4, updated_at = clock_timestamp(),
        expires_at = greatest(r.expires_at, clock_timestamp() + $3::bigint * interval '1 millisecond')
    FROM picked p
    WHERE r.scope = p.scope AND r.key = p.idempotency_key AND r.state = 3
      AND (r.redrive_count, r.position) <= (p.redrive_count, p.retry_count::bigint + p.hold_count)
)
DELETE FROM msg_retry r
USING picked p
WHERE r.id = p.id
