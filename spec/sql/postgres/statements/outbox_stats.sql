-- outbox_stats: how many rows wait, how many have failed, and when the oldest was stored.
SELECT (SELECT count(*) FROM outbox WHERE NOT failed),
       (SELECT count(*) FROM outbox WHERE failed),
       (SELECT o.created_at FROM outbox o ORDER BY o.id LIMIT 1)
