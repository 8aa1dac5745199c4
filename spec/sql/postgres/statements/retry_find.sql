-- retry_find: deliveries of a key to come, behind an id, in the order of ids; with the columns of retry_list.sql.
--
-- $1 text   idempotency key
-- $2 text[] scopes
-- $3 text   event type; empty: all
-- $4 text   action, such as RETRY; empty: all
-- $5 text   status, PENDING or PARKED; empty: all
-- $6 text   reason: its code, or its code, a colon and how the detail begins; empty: all
-- $7 bigint behind this id
-- $8 int    at most so many
SELECT r.id, r.scope, r.idempotency_key, r.event_type, r.biz_key, r.msg_id, r.source_topic, r.source_partition, r.source_offset,
    r.redrive_count, r.retry_count, r.hold_count, r.action, r.reason, r.topic, r.message_key, r.headers, r.payload, r.next_retry_time,
    r.lane_topic, r.lane_key, r.publications, r.created_at, r.status, CASE WHEN r.claimed_until > clock_timestamp() THEN r.token ELSE '' END
FROM msg_retry r
WHERE r.idempotency_key = $1::text AND r.scope = ANY($2::text[])
  AND ($3::text = '' OR r.event_type = $3::text)
  AND ($4::text = '' OR r.action = $4::text)
  AND ($5::text = '' OR r.status = $5::text)
  AND ($6::text = '' OR (split_part(r.reason, ':', 1) = split_part($6::text, ':', 1)
                        AND (strpos($6::text, ':') = 0 OR starts_with(r.reason, $6::text))))
  AND r.id > $7
ORDER BY r.id
LIMIT $8
