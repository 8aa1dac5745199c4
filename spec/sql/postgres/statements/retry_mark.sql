-- retry_mark: remove rows whose publication is confirmed, unless they have changed since, and say which. (DEDUP-027)
--
-- $1 bigint[]  ids
-- $2 text[]    the tokens they were claimed with
-- $3 int[]     redrive counts when they were claimed
-- $4 bigint[]  positions when they were claimed
WITH input AS MATERIALIZED (
    SELECT i.* FROM unnest($1::bigint[], $2::text[], $3::int[], $4::bigint[]) WITH ORDINALITY AS i (id, token, redrive_count, position, n)
    WHERE i.token <> ''
    ORDER BY i.id
)
DELETE FROM msg_retry r
USING input i
WHERE r.id = i.id AND r.token = i.token AND r.redrive_count = i.redrive_count AND r.retry_count::bigint + r.hold_count = i.position
RETURNING i.n
