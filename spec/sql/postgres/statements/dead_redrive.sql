-- dead_redrive: mark dead letters redriven, and say which were not before; those that were dropped are none of
-- them. retry_put.sql writes their deliveries in the same transaction.
--
-- $1 bigint[]  ids
WITH waiting AS MATERIALIZED (
    SELECT d.id
    FROM (SELECT DISTINCT i AS id FROM unnest($1::bigint[]) AS i ORDER BY 1) i
    CROSS JOIN LATERAL (SELECT d.id FROM dead_letter d WHERE d.id = i.id AND d.redriven_at IS NULL FOR UPDATE) d
)
UPDATE dead_letter d
SET redriven_at = clock_timestamp()
FROM waiting w
WHERE d.id = w.id
RETURNING d.id
