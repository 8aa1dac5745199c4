-- outbox_claim: claim rows that are due, in order: of each (topic, biz key) the first ones alone, and none behind one
-- that is claimed, postponed or failed. After outbox_lock.sql.
--
-- $1 text    the relay's token, new for each claim
-- $2 int     at most so many
-- $3 bigint  how long the claim holds, in milliseconds
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), ready AS MATERIALIZED (
    SELECT o.id
    FROM outbox o
    WHERE NOT o.failed AND o.next_at <= (SELECT now FROM clock) AND (o.claimed_until IS NULL OR o.claimed_until <= (SELECT now FROM clock))
      AND (o.message_key IS NULL OR NOT EXISTS (
          SELECT 1 FROM outbox b
          WHERE b.topic = o.topic AND b.message_key = o.message_key AND b.id < o.id
            AND (b.failed OR b.claimed_until IS NOT NULL OR b.next_at > b.created_at)
            AND (b.failed OR b.claimed_until > (SELECT now FROM clock) OR b.next_at > (SELECT now FROM clock))))
    ORDER BY o.id
    LIMIT $2
    FOR UPDATE OF o
)
UPDATE outbox o
SET token = $1::text, claimed_until = c.now + greatest($3, 1) * interval '1 millisecond'
FROM ready r CROSS JOIN clock c
WHERE o.id = r.id
RETURNING o.id, o.topic, o.message_key, o.headers, o.payload, o.created_at, o.attempts, o.failed, o.last_error, o.next_at
