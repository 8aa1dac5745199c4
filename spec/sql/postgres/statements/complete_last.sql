-- complete_last: complete_one.sql for a transaction whose COMMIT is sent together with it: where there is no row it fails,
-- with SQLSTATE 22P02 and "fenced out" in its message, so that the COMMIT does not happen.
--
-- $1 text   scope
-- $2 text   key
-- $3 bigint fence
-- $4 text   owner
-- $5 bytea  result, null where there is none
-- $6 bigint retention in milliseconds
WITH done AS (
    UPDATE idem_record
    SET state = 2, result = $5::bytea, lease_until = NULL, updated_at = clock_timestamp(),
        expires_at = greatest(expires_at, clock_timestamp() + $6 * interval '1 millisecond')
    WHERE scope = $1::text AND key = $2::text AND fence = $3 AND owner = $4::text AND state = 1
    RETURNING 1
)
SELECT CASE WHEN count(*) = 0 THEN ('fenced out: the claim is no longer held, rows ' || count(*))::int END FROM done
