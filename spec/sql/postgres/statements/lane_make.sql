-- lane_make: make lanes that are not there, headed by these keys, and say which were made. Before lane_lock.sql,
-- since a row that is not there cannot be locked.
--
-- $1 text[]  scopes; no lane comes twice
-- $2 text[]  topics
-- $3 text[]  biz keys
-- $4 text[]  keys of the heads
INSERT INTO idem_lane (scope, topic, biz_key, head_key)
SELECT i.scope, i.topic, i.biz_key, i.head_key
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS i (scope, topic, biz_key, head_key)
ORDER BY i.scope COLLATE "C", i.topic COLLATE "C", i.biz_key COLLATE "C"
ON CONFLICT DO NOTHING
RETURNING scope, topic, biz_key
