-- outbox_stored: which of the biz keys have rows, by their place in the list, from 1.
--
-- $1 text     topic
-- $2 bytea[]  biz keys
SELECT i.n
FROM unnest($2::bytea[]) WITH ORDINALITY AS i (message_key, n)
WHERE EXISTS (SELECT 1 FROM outbox o WHERE o.topic = $1::text AND o.message_key = i.message_key OFFSET 0)
