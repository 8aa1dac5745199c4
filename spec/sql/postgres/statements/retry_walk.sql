-- retry_walk: what retry_list.sql answers, where a reason has a detail: rows are read one by one, in the order of ids,
-- which is faster than once for each kind.
--
-- $1 text   scope; empty: all
-- $2 text   event type; empty: all
-- $3 text   action, such as RETRY; empty: all
-- $4 text   status, PENDING or PARKED; empty: all
-- $5 text   how the reason begins
-- $6 bigint behind this id
-- $7 int    at most so many
SELECT r.id, r.scope, r.idempotency_key, r.event_type, r.biz_key, r.msg_id, r.source_topic, r.source_partition, r.source_offset,
    r.redrive_count, r.retry_count, r.hold_count, r.action, r.reason, r.topic, r.message_key, r.headers, r.payload, r.next_retry_time,
    r.lane_topic, r.lane_key, r.publications, r.created_at, r.status, CASE WHEN r.claimed_until > clock_timestamp() THEN r.token ELSE '' END
FROM msg_retry r
WHERE ($1::text = '' OR r.scope = $1::text)
  AND ($2::text = '' OR r.event_type = $2::text)
  AND ($3::text = '' OR r.action = $3::text)
  AND ($4::text = '' OR r.status = $4::text)
  AND starts_with(r.reason, $5::text)
  AND r.id > $6
ORDER BY r.id
LIMIT $7
