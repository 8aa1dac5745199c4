-- clean: remove expired records, oldest first; of those that are PROCESSING a tombstone remains. The answer is
-- how many of both. Rows that others have locked are passed over: they will be there the next time.
--
-- $1 int     at most so many
-- $2 bigint  retention in milliseconds
-- $3 bigint  what expires_at is rounded up to, in milliseconds
WITH expired AS MATERIALIZED (
    SELECT r.scope, r.key, r.state
    FROM idem_record r
    WHERE r.expires_at <= (SELECT clock_timestamp())
    ORDER BY r.expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
), removed AS (
    DELETE FROM idem_record r USING expired e
    WHERE r.scope = e.scope AND r.key = e.key AND e.state <> 1
), buried AS (
    UPDATE idem_record r
    SET state = 3, fence = CASE WHEN r.fence < 9223372036854775807 THEN r.fence + 1 ELSE r.fence END,
        attempts = 0, owner = '', redrive_count = 0, position = 0, retry_count = 0, hold_count = 0, lease_until = NULL, fingerprint = '',
        result = NULL, updated_at = clock_timestamp(),
        expires_at = date_bin($3 * interval '1 millisecond', clock_timestamp() + $2 * interval '1 millisecond', 'epoch') + $3 * interval '1 millisecond'
    FROM expired e
    WHERE r.scope = e.scope AND r.key = e.key AND e.state = 1
)
SELECT count(*) FROM expired
