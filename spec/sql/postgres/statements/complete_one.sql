-- complete_one: make one record SUCCESS, as the last statement of the handler's own transaction. No row: fenced
-- out, and the transaction has to be rolled back. (DEDUP-020, DEDUP-022)
--
-- $1 text   scope
-- $2 text   key
-- $3 bigint fence
-- $4 text   owner
-- $5 bytea  result, null where there is none
-- $6 bigint retention in milliseconds
UPDATE idem_record
SET state = 2, result = $5::bytea, lease_until = NULL, updated_at = clock_timestamp(),
    expires_at = greatest(expires_at, clock_timestamp() + $6 * interval '1 millisecond')
WHERE scope = $1::text AND key = $2::text AND fence = $3 AND owner = $4::text AND state = 1
