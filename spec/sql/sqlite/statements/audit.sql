-- What became of deliveries, counted.

-- name: audit_count
-- ?1 the hour, ?2 scope, ?3 event type, ?4 outcome, ?5 action, ?6 layer, ?7 how many.
INSERT INTO idem_audit (hour, scope, event_type, outcome, action, layer, count) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (hour, scope, event_type, outcome, action, layer) DO UPDATE SET count = count + excluded.count;

-- name: audit_read
-- ?1 hours since, ?2 hours before: 0 selects all. ?3 scope: '' selects all. ?4 by so many milliseconds, counted
-- from the first hour, 0 all together, ?5 1 by scope, ?6 1 by event type.
SELECT CASE WHEN ?4 > 0 THEN ?1 + (hour - ?1) / ?4 * ?4 ELSE 0 END, CASE WHEN ?5 = 1 THEN scope ELSE '' END, CASE WHEN ?6 = 1 THEN event_type ELSE '' END,
       outcome, action, layer, sum(count)
  FROM idem_audit
 WHERE hour >= ?1 AND (?2 = 0 OR hour < ?2) AND (?3 = '' OR scope = ?3)
 GROUP BY 1, 2, 3, 4, 5, 6
 ORDER BY 1, 2, 3, 4, 5, 6;

-- name: audit_clean
-- ?1 hours before, ?2 limit.
DELETE FROM idem_audit
 WHERE (hour, scope, event_type, outcome, action, layer) IN (
       SELECT hour, scope, event_type, outcome, action, layer FROM idem_audit WHERE hour < ?1 ORDER BY hour LIMIT ?2);
