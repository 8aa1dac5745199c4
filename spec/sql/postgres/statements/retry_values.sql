-- retry_values: what deliveries to come have of scopes, event types and codes of reasons. It skips from one kind to the
-- next, and looks at the first row of each: of two codes with the same bits (see msg_retry.kind) it may have one.
--
-- $1 int  at most so many kinds
WITH RECURSIVE kinds AS (
    (SELECT 1 AS n, r.kind, r.scope, r.event_type, r.reason FROM msg_retry r WHERE r.kind IS NOT NULL ORDER BY r.kind LIMIT 1)
    UNION ALL
    SELECT k.n + 1, f.* FROM kinds k CROSS JOIN LATERAL (
        SELECT r.kind, r.scope, r.event_type, r.reason FROM msg_retry r WHERE r.kind > k.kind ORDER BY r.kind LIMIT 1
    ) f
    WHERE k.n < $1
)
SELECT 'scope' AS kind, scope AS value FROM kinds WHERE scope > ''
UNION
SELECT 'event_type', event_type FROM kinds WHERE event_type > ''
UNION
SELECT 'code', split_part(reason, ':', 1) FROM kinds WHERE reason > ''
ORDER BY 1, 2
