-- retry_wake: make the held rows of a biz key due now: the state that they wait for has moved. (STATE-012)
--
-- $1 text  scope
-- $2 text  biz key
WITH held AS MATERIALIZED (
    SELECT r.id
    FROM msg_retry r
    WHERE r.scope = $1::text AND r.biz_key = $2::text AND r.action = 'HOLD' AND r.status = 'PENDING'
    ORDER BY r.id
    FOR UPDATE
)
UPDATE msg_retry r
SET next_retry_time = clock_timestamp()
FROM held h
WHERE r.id = h.id AND r.next_retry_time > clock_timestamp()
