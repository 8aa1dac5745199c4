-- lane_lock: lock lanes, in order, and read their heads. What is read of msg_retry in a later statement is then
-- all that is parked.
--
-- $1 text[]  scopes; no lane comes twice
-- $2 text[]  topics
-- $3 text[]  biz keys
WITH input AS MATERIALIZED (
    SELECT i.scope COLLATE "C" AS scope, i.topic COLLATE "C" AS topic, i.biz_key COLLATE "C" AS biz_key
    FROM unnest($1::text[], $2::text[], $3::text[]) AS i (scope, topic, biz_key)
    ORDER BY 1, 2, 3
)
SELECT l.scope, l.topic, l.biz_key, l.head_key
FROM input i
CROSS JOIN LATERAL (SELECT * FROM idem_lane l WHERE l.scope = i.scope AND l.topic = i.topic AND l.biz_key = i.biz_key FOR UPDATE) l
