-- operation_list: what operators changed by hand, the newest first.
--
-- $1 bigint  before this id; 9223372036854775807: from the newest
-- $2 int     at most so many
SELECT o.id, o.begun_at, o.ended_at, o.changed, o.operator, o.command, o.reason, o.target
FROM idem_operation o
WHERE o.id < $1
ORDER BY o.id DESC
LIMIT $2
