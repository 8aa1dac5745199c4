-- dead_values: what dead letters that wait have of each thing they are looked for by: scopes, event types, outcomes, and
-- codes of reasons. It skips from one to the next in an index of each.
--
-- $1 int  at most so many of each
WITH RECURSIVE scopes (n, value) AS (
    SELECT 1, (SELECT d.scope FROM dead_letter d WHERE d.scope > '' AND d.redriven_at IS NULL ORDER BY d.scope LIMIT 1)
    UNION ALL
    SELECT s.n + 1, (SELECT d.scope FROM dead_letter d WHERE d.scope > s.value AND d.redriven_at IS NULL ORDER BY d.scope LIMIT 1)
    FROM scopes s WHERE s.value IS NOT NULL AND s.n < $1
), types (n, value) AS (
    SELECT 1, (SELECT d.event_type FROM dead_letter d WHERE d.event_type > '' AND d.redriven_at IS NULL ORDER BY d.event_type LIMIT 1)
    UNION ALL
    SELECT t.n + 1, (SELECT d.event_type FROM dead_letter d WHERE d.event_type > t.value AND d.redriven_at IS NULL ORDER BY d.event_type LIMIT 1)
    FROM types t WHERE t.value IS NOT NULL AND t.n < $1
), outcomes (n, value) AS (
    SELECT 1, (SELECT d.outcome FROM dead_letter d WHERE d.outcome > '' AND d.redriven_at IS NULL ORDER BY d.outcome LIMIT 1)
    UNION ALL
    SELECT o.n + 1, (SELECT d.outcome FROM dead_letter d WHERE d.outcome > o.value AND d.redriven_at IS NULL ORDER BY d.outcome LIMIT 1)
    FROM outcomes o WHERE o.value IS NOT NULL AND o.n < $1
), codes (n, value) AS (
    SELECT 1, (SELECT split_part(d.reason, ':', 1) FROM dead_letter d
        WHERE split_part(d.reason, ':', 1) > '' AND d.redriven_at IS NULL ORDER BY split_part(d.reason, ':', 1) LIMIT 1)
    UNION ALL
    SELECT c.n + 1, (SELECT split_part(d.reason, ':', 1) FROM dead_letter d
        WHERE split_part(d.reason, ':', 1) > c.value AND d.redriven_at IS NULL ORDER BY split_part(d.reason, ':', 1) LIMIT 1)
    FROM codes c WHERE c.value IS NOT NULL AND c.n < $1
)
SELECT 'scope' AS kind, value FROM scopes WHERE value IS NOT NULL
UNION ALL
SELECT 'event_type', value FROM types WHERE value IS NOT NULL
UNION ALL
SELECT 'outcome', value FROM outcomes WHERE value IS NOT NULL
UNION ALL
SELECT 'code', value FROM codes WHERE value IS NOT NULL
ORDER BY 1, 2
