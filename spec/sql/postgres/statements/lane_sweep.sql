-- lane_sweep: lock lanes whose head is done: its record is SUCCESS or DEAD, or it has no delivery to come and
-- nothing of it has changed for the retention. lane_release.sql lets the next one go.
-- A lane that was moved between the look and its lock comes with its new head and the record of the old one: it is
-- left alone, since it is the new head's record that counts.
--
-- $1 int     at most so many
-- $2 bigint  retention in milliseconds
SELECT l.scope, l.topic, l.biz_key, l.head_key
FROM idem_lane l
LEFT JOIN LATERAL (SELECT r.key, r.state, r.updated_at FROM idem_record r WHERE r.scope = l.scope AND r.key = l.head_key OFFSET 0) r ON true
WHERE r.key = l.head_key AND r.state IN (2, 4)
   OR greatest(l.since, r.updated_at) <= (SELECT clock_timestamp()) - $2 * interval '1 millisecond'
  AND NOT EXISTS (SELECT 1 FROM msg_retry m WHERE m.scope = l.scope AND m.idempotency_key = l.head_key)
ORDER BY l.scope, l.topic, l.biz_key
LIMIT $1
FOR UPDATE OF l SKIP LOCKED
