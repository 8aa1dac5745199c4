-- lane_release: the head leaves its lane. The key of the first that is parked becomes the head, and all that is parked
-- of that key is due now: of two copies the first may be stale, and must not wait for the other, which would wait
-- behind its own key. A lane in which none is parked is over. Where this key is not the head nothing happens.
-- After lane_lock.sql, in a statement of its own: this one has to see what others parked while the lock was waited
-- for. (CONS-014)
--
-- $1 text  scope
-- $2 text  topic
-- $3 text  biz key
-- $4 text  the head's key
WITH lane AS MATERIALIZED (
    SELECT l.scope, l.topic, l.biz_key
    FROM idem_lane l
    WHERE l.scope = $1::text AND l.topic = $2::text AND l.biz_key = $3::text AND l.head_key = $4::text
), first AS MATERIALIZED (
    SELECT r.idempotency_key
    FROM lane CROSS JOIN LATERAL (
        SELECT r.idempotency_key FROM msg_retry r
        WHERE r.scope = $1::text AND r.lane_topic = $2::text AND r.lane_key = $3::text AND r.status = 'PARKED'
        ORDER BY r.id LIMIT 1) r
), released AS (
    UPDATE msg_retry r
    SET status = 'PENDING', next_retry_time = clock_timestamp(), token = '', claimed_until = NULL
    FROM first f
    WHERE r.scope = $1::text AND r.idempotency_key = f.idempotency_key
      AND r.lane_topic = $2::text AND r.lane_key = $3::text AND r.status = 'PARKED'
), moved AS (
    UPDATE idem_lane l
    SET head_key = f.idempotency_key, since = clock_timestamp()
    FROM first f
    WHERE l.scope = $1::text AND l.topic = $2::text AND l.biz_key = $3::text
)
DELETE FROM idem_lane l
USING lane
WHERE l.scope = lane.scope AND l.topic = lane.topic AND l.biz_key = lane.biz_key AND NOT EXISTS (SELECT 1 FROM first)
