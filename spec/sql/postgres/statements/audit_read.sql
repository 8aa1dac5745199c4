-- audit_read: what was counted, by outcome, action and layer, and by what else is asked for, in no order.
--
-- $1 timestamptz  from this hour on, a whole one, in UTC: the server would truncate it once a row
-- $2 timestamptz  hours that begin before; null: all
-- $3 text         scope; empty: all
-- $4 bigint       by so many hours, counted from the first; 0: all together, and the column is null
-- $5 boolean      by scope; the column is empty otherwise
-- $6 boolean      by event type; the column is empty otherwise
SELECT CASE WHEN $4::bigint = 1 THEN a.hour WHEN $4::bigint > 1 THEN date_bin($4::bigint * interval '1 hour', a.hour, $1::timestamptz) END,
    CASE WHEN $5::boolean THEN a.scope ELSE '' END, CASE WHEN $6::boolean THEN a.event_type ELSE '' END, a.outcome, a.action, a.layer, sum(a.count)::bigint
FROM idem_audit a
WHERE a.hour >= $1::timestamptz
  AND a.hour < coalesce($2::timestamptz, 'infinity')
  AND ($3::text = '' OR a.scope = $3::text)
GROUP BY 1, 2, 3, 4, 5, 6
