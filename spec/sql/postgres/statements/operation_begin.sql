-- operation_begin: say what an operator is about to change, before it is changed.
--
-- $1 text  who, as user@host
-- $2 text  the command
-- $3 text  why
-- $4 text  what it is done to
INSERT INTO idem_operation (operator, command, reason, target) VALUES ($1, $2, $3, $4) RETURNING id
