-- dead_stats: how many dead letters wait, and since when, by scope and event type.
SELECT d.scope, d.event_type, count(*), min(d.created_at)
FROM dead_letter d
WHERE d.redriven_at IS NULL
GROUP BY d.scope, d.event_type
ORDER BY d.scope, d.event_type
