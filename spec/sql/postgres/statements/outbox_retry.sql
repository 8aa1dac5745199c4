-- outbox_retry: make the first rows that have failed due again.
--
-- $1 int  at most so many
WITH given_up AS MATERIALIZED (
    SELECT o.id FROM outbox o WHERE o.failed ORDER BY o.id LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE outbox o
SET failed = false, attempts = 0, next_at = clock_timestamp()
FROM given_up g
WHERE o.id = g.id
