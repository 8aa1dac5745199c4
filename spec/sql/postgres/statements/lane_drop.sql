-- lane_drop: remove lanes that lane_make.sql made in this transaction, for settlements that came to nothing.
--
-- $1 text[]  scopes
-- $2 text[]  topics
-- $3 text[]  biz keys
DELETE FROM idem_lane l
USING unnest($1::text[], $2::text[], $3::text[]) AS i (scope, topic, biz_key)
WHERE l.scope = i.scope AND l.topic = i.topic AND l.biz_key = i.biz_key
