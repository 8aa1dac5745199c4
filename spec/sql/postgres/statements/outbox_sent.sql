-- outbox_sent: remove rows that the broker has confirmed and that are still claimed with this token.
--
-- $1 text      the relay's token
-- $2 bigint[]  ids
DELETE FROM outbox o
USING (SELECT DISTINCT i AS id FROM unnest($2::bigint[]) AS i ORDER BY 1) i
WHERE o.id = i.id AND o.token = $1::text AND $1::text <> ''
