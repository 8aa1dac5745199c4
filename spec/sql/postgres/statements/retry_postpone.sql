-- retry_postpone: give claims back, of rows that could not be published, unless they have changed since.
--
-- $1 bigint[]  ids
-- $2 text[]    the tokens they were claimed with
-- $3 int[]     redrive counts when they were claimed
-- $4 bigint[]  positions when they were claimed
-- $5 bigint    due again in so many milliseconds
WITH input AS MATERIALIZED (
    SELECT i.* FROM unnest($1::bigint[], $2::text[], $3::int[], $4::bigint[]) AS i (id, token, redrive_count, position)
    WHERE i.token <> ''
    ORDER BY i.id
)
UPDATE msg_retry r
SET token = '', claimed_until = NULL, next_retry_time = clock_timestamp() + $5 * interval '1 millisecond'
FROM input i
WHERE r.id = i.id AND r.token = i.token AND r.redrive_count = i.redrive_count AND r.retry_count::bigint + r.hold_count = i.position
