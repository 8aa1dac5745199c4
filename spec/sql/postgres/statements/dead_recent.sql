-- dead_recent: dead letters without their payloads, newest first. With force_custom_plan, as dead_list.sql.
--
-- $1 text         scope; empty: all
-- $2 text         idempotency key; empty: all
-- $3 text         event type; empty: all
-- $4 text         outcome; empty: all
-- $5 text         reason: its code, or its code, a colon and how the detail begins; empty: all
-- $6 timestamptz  created at or after; null: all
-- $7 timestamptz  created before; null: all
-- $8 boolean      those that were redriven, too
-- $9 timestamptz  behind the one created at this time; null: from the newest
-- $10 bigint      with this id
-- $11 int         at most so many
-- $12 boolean     with the digests of payloads, for which each is read; else null
SELECT d.id, d.scope, d.idempotency_key, d.event_type, d.biz_key, d.event_id, d.source_topic, d.source_partition, d.source_offset,
    d.redrive_count, d.retry_count, d.hold_count, d.outcome, d.reason, d.topic, d.message_key, d.headers, coalesce(octet_length(d.payload), 0),
    CASE WHEN $12::boolean THEN sha256(coalesce(d.payload, '')) END, d.created_at, d.redriven_at
FROM dead_letter d
WHERE ($1::text = '' OR d.scope = $1::text)
  AND ($2::text = '' OR d.idempotency_key = $2::text)
  AND ($3::text = '' OR d.event_type = $3::text)
  AND ($4::text = '' OR d.outcome = $4::text)
  AND ($5::text = '' OR (split_part(d.reason, ':', 1) = split_part($5::text, ':', 1)
                        AND (strpos($5::text, ':') = 0 OR starts_with(d.reason, $5::text))))
  AND ($6::timestamptz IS NULL OR d.created_at >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR d.created_at < $7::timestamptz)
  AND ($8::boolean OR d.redriven_at IS NULL)
  AND ($9::timestamptz IS NULL OR (d.created_at, d.id) < ($9::timestamptz, $10::bigint))
ORDER BY d.created_at DESC, d.id DESC
LIMIT $11
