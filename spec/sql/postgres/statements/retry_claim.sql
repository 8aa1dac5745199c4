-- retry_claim: claim rows that are due on this server's clock, oldest first, whoever they are for. Any number of
-- schedulers may ask at once: each gets others. There is no cursor, so a row that is committed late is not missed.
--
-- $1 text    the scheduler's token, new for each claim
-- $2 int     at most so many
-- $3 bigint  how long the claim holds, in milliseconds
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), due AS MATERIALIZED (
    SELECT r.id
    FROM msg_retry r
    WHERE r.status = 'PENDING' AND r.next_retry_time <= (SELECT now FROM clock)
      AND (r.claimed_until IS NULL OR r.claimed_until <= (SELECT now FROM clock))
    ORDER BY r.next_retry_time, r.id
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
UPDATE msg_retry r
SET token = $1::text, claimed_until = c.now + greatest($3, 1) * interval '1 millisecond', publications = r.publications + 1
FROM due d CROSS JOIN clock c
WHERE r.id = d.id
RETURNING r.id, r.scope, r.idempotency_key, r.event_type, r.biz_key, r.msg_id, r.source_topic, r.source_partition, r.source_offset,
    r.redrive_count, r.retry_count, r.hold_count, r.action, r.reason, r.topic, r.message_key, r.headers, r.payload, r.next_retry_time,
    r.lane_topic, r.lane_key, r.publications, r.created_at
