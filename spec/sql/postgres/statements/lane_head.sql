-- lane_head: name the head of a lane that this transaction has made or locked.
--
-- $1 text  scope
-- $2 text  topic
-- $3 text  biz key
-- $4 text  the head's key
UPDATE idem_lane SET head_key = $4::text WHERE scope = $1::text AND topic = $2::text AND biz_key = $3::text
