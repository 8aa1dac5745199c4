-- retry_list: deliveries to come behind an id, in the order of ids. With force_custom_plan, as dead_list.sql. The last
-- column says whether a scheduler has claimed it.
--
-- $1 text   scope; empty: all
-- $2 text   idempotency key; empty: all
-- $3 text   event type; empty: all
-- $4 text   action, such as RETRY; empty: all
-- $5 text   status, PENDING or PARKED; empty: all
-- $6 text   what the reason begins with; empty: all
-- $7 bigint behind this id
-- $8 int    at most so many
SELECT r.id, r.scope, r.idempotency_key, r.event_type, r.biz_key, r.msg_id, r.source_topic, r.source_partition, r.source_offset,
    r.redrive_count, r.retry_count, r.hold_count, r.action, r.reason, r.topic, r.message_key, r.headers, r.payload, r.next_retry_time,
    r.lane_topic, r.lane_key, r.publications, r.created_at, r.status, CASE WHEN r.claimed_until > clock_timestamp() THEN r.token ELSE '' END
FROM msg_retry r
WHERE ($1::text = '' OR r.scope = $1::text)
  AND ($2::text = '' OR r.idempotency_key = $2::text)
  AND ($3::text = '' OR r.event_type = $3::text)
  AND ($4::text = '' OR r.action = $4::text)
  AND ($5::text = '' OR r.status = $5::text)
  AND ($6::text = '' OR starts_with(r.reason, $6::text))
  AND r.id > $7
ORDER BY r.id
LIMIT $8
