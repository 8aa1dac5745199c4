-- forget: leave a tombstone of each record, which admits everything under the next fence. It permits a second
-- effect. (DEDUP-025)
--
-- $1 text    scope
-- $2 text[]  keys
-- $3 bigint  retention in milliseconds
WITH locked AS MATERIALIZED (
    SELECT r.scope, r.key
    FROM (SELECT DISTINCT k COLLATE "C" AS key FROM unnest($2::text[]) AS k ORDER BY 1) i
    CROSS JOIN LATERAL (SELECT r.scope, r.key FROM idem_record r WHERE r.scope = $1::text AND r.key = i.key FOR UPDATE) r
)
UPDATE idem_record r
SET state = 3, fence = CASE WHEN r.fence < 9223372036854775807 THEN r.fence + 1 ELSE r.fence END,
    attempts = 0, owner = '', redrive_count = 0, position = 0, retry_count = 0, hold_count = 0, lease_until = NULL, fingerprint = '',
    result = NULL, updated_at = clock_timestamp(),
    expires_at = clock_timestamp() + $3 * interval '1 millisecond'
FROM locked l
WHERE r.scope = l.scope AND r.key = l.key
