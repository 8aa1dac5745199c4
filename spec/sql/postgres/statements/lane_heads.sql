-- lane_heads: the heads of lanes that are stuck, each with its place in the list, from 1.
--
-- $1 text[]  scopes
-- $2 text[]  topics
-- $3 text[]  biz keys
SELECT i.n, l.head_key
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS i (scope, topic, biz_key, n)
CROSS JOIN LATERAL (SELECT l.head_key FROM idem_lane l WHERE l.scope = i.scope AND l.topic = i.topic AND l.biz_key = i.biz_key OFFSET 0) l
