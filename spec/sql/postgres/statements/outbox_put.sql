-- outbox_put: store messages, in the order given, in the caller's transaction or one of its own.
--
-- $1 text[]   topics
-- $2 bytea[]  keys of the messages, the biz keys; null: none, and no order
-- $3 text[]   headers, JSON
-- $4 bytea[]  payloads
INSERT INTO outbox (topic, message_key, headers, payload, created_at, next_at)
SELECT i.topic, i.message_key, i.headers, i.payload, c.now, c.now
FROM (SELECT clock_timestamp() AS now OFFSET 0) c
CROSS JOIN unnest($1::text[], $2::bytea[], $3::text[], $4::bytea[]) WITH ORDINALITY AS i (topic, message_key, headers, payload, n)
ORDER BY i.n
