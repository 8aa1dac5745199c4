-- dead_reasons: the first 64 characters of the reasons of dead letters that wait, where they begin with a text, each once.
-- It skips from one to the next in an index.
--
-- $1 text how the reason begins
-- $2 int  at most so many
WITH RECURSIVE reasons (n, value) AS (
    SELECT 1, (SELECT left(d.reason, 64) FROM dead_letter d
        WHERE left(d.reason, 64) >= left($1::text, 64) AND d.redriven_at IS NULL ORDER BY left(d.reason, 64) LIMIT 1)
    UNION ALL
    SELECT r.n + 1, (SELECT left(d.reason, 64) FROM dead_letter d
        WHERE left(d.reason, 64) > r.value AND d.redriven_at IS NULL ORDER BY left(d.reason, 64) LIMIT 1)
    FROM reasons r WHERE starts_with(r.value, left($1::text, 64)) AND r.n < $2
)
SELECT r.value FROM reasons r WHERE starts_with(r.value, left($1::text, 64))
