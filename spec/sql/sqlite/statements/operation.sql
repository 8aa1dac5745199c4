-- What operators did by hand.

-- name: operation_begin
-- ?1 who, ?2 the command, ?3 why, ?4 what it is done to, ?5 now.
INSERT INTO idem_operation (operator, command, reason, target, begun_at) VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id;

-- name: operation_end
-- ?1 id, ?2 how many rows were changed, ?3 now.
UPDATE idem_operation SET ended_at = ?3, changed = ?2 WHERE id = ?1;

-- name: operation_list
-- ?1 before this id, ?2 limit.
SELECT id, begun_at, ended_at, changed, operator, command, reason, target
  FROM idem_operation WHERE id < ?1 ORDER BY id DESC LIMIT ?2;
