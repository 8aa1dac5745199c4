-- outbox_unsent: record a try that failed, or with an empty reason give the claim back. After outbox_lock.sql.
--
-- $1 text      the relay's token
-- $2 bigint[]  ids
-- $3 text      what went wrong; empty: it was not tried
-- $4 bigint    due again in so many milliseconds
-- $5 boolean   the relay has given up
UPDATE outbox o
SET token = '', claimed_until = NULL, next_at = greatest(clock_timestamp() + $4 * interval '1 millisecond', o.created_at),
    attempts = o.attempts + CASE WHEN $3::text = '' THEN 0 ELSE 1 END,
    last_error = CASE WHEN $3::text = '' THEN o.last_error ELSE $3::text END,
    failed = CASE WHEN $3::text = '' THEN o.failed ELSE $5::boolean END
FROM (SELECT DISTINCT i AS id FROM unnest($2::bigint[]) AS i ORDER BY 1) i
WHERE o.id = i.id AND o.token = $1::text AND $1::text <> ''
