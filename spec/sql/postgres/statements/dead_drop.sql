-- dead_drop: remove dead letters for good.
--
-- $1 bigint[]  ids
DELETE FROM dead_letter d
USING (SELECT DISTINCT i AS id FROM unnest($1::bigint[]) AS i ORDER BY 1) i
WHERE d.id = i.id
