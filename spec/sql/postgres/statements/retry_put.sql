-- retry_put: write deliveries that are to come. One of the same delivery that is there already is raised, pending
-- again and without its scheduler's claim, unless it is further on. (DEDUP-027)
--
-- $1 text[]    scopes; no (scope, key, source) comes twice
-- $2 text[]    idempotency keys, empty where there is none
-- $3 text[]    source topics
-- $4 int[]     source partitions
-- $5 bigint[]  source offsets
-- $6 int[]     redrive counts
-- $7 int[]     retry counts
-- $8 int[]     hold counts
-- $9 text[]    actions: RETRY, HOLD, DEFER, REDRIVE
-- $10 text[]   statuses: PENDING, PARKED
-- $11 bigint[] due in so many milliseconds
-- $12 text[]   topics of the lanes, empty where there is none
-- $13 text[]   biz keys of the lanes
-- $14 text[]   msg_id, the event ids
-- $15 text[]   event types
-- $16 text[]   biz keys
-- $17 text[]   reasons
-- $18 text[]   topics to publish to
-- $19 text[]   headers, JSON
-- $20 bytea[]  keys of the messages
-- $21 bytea[]  payloads
INSERT INTO msg_retry AS r (scope, idempotency_key, source_topic, source_partition, source_offset, redrive_count, retry_count, hold_count,
    action, status, next_retry_time, lane_topic, lane_key, msg_id, event_type, biz_key, reason, topic, headers, message_key, payload)
SELECT i.scope, i.key, i.source_topic, i.source_partition, i.source_offset, i.redrive_count, i.retry_count, i.hold_count,
    i.action, i.status, clock_timestamp() + i.due * interval '1 millisecond', i.lane_topic, i.lane_key, i.msg_id, i.event_type, i.biz_key,
    i.reason, i.topic, i.headers, i.message_key, i.payload
FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::int[], $7::int[], $8::int[], $9::text[], $10::text[],
            $11::bigint[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[],
            $20::bytea[], $21::bytea[]) WITH ORDINALITY
    AS i (scope, key, source_topic, source_partition, source_offset, redrive_count, retry_count, hold_count, action, status, due,
          lane_topic, lane_key, msg_id, event_type, biz_key, reason, topic, headers, message_key, payload, n)
ORDER BY i.n
ON CONFLICT (scope, idempotency_key, source_topic, source_partition, source_offset) DO UPDATE
SET redrive_count = excluded.redrive_count, retry_count = excluded.retry_count, hold_count = excluded.hold_count,
    action = excluded.action, status = excluded.status, next_retry_time = excluded.next_retry_time, token = '', claimed_until = NULL,
    lane_topic = excluded.lane_topic, lane_key = excluded.lane_key, msg_id = excluded.msg_id, event_type = excluded.event_type,
    biz_key = excluded.biz_key, reason = excluded.reason, topic = excluded.topic, headers = excluded.headers,
    message_key = excluded.message_key, payload = excluded.payload
WHERE (excluded.redrive_count, excluded.retry_count::bigint + excluded.hold_count) >= (r.redrive_count, r.retry_count::bigint + r.hold_count)
