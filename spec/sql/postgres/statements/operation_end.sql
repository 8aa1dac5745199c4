-- operation_end: say that an operation is over, and how much it changed.
--
-- $1 bigint  its id
-- $2 bigint  how many rows it changed
UPDATE idem_operation SET ended_at = clock_timestamp(), changed = $2::bigint WHERE id = $1::bigint
