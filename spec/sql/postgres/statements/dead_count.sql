-- dead_count: how many dead letters there are. With force_custom_plan, as dead_list.sql.
--
-- $1 text         scope; empty: all
-- $2 text         idempotency key; empty: all
-- $3 text         event type; empty: all
-- $4 text         outcome; empty: all
-- $5 text         what the reason begins with; empty: all
-- $6 timestamptz  created at or after; null: all
-- $7 timestamptz  created before; null: all
-- $8 boolean      those that were redriven, too
SELECT count(*)
FROM dead_letter d
WHERE ($1::text = '' OR d.scope = $1::text)
  AND ($2::text = '' OR d.idempotency_key = $2::text)
  AND ($3::text = '' OR d.event_type = $3::text)
  AND ($4::text = '' OR d.outcome = $4::text)
  AND ($5::text = '' OR starts_with(d.reason, $5::text))
  AND ($6::timestamptz IS NULL OR d.created_at >= $6::timestamptz)
  AND ($7::timestamptz IS NULL OR d.created_at < $7::timestamptz)
  AND ($8::boolean OR d.redriven_at IS NULL)
