-- scopes: the scopes that have records, deliveries to come or dead letters that wait. It skips from one to the next in
-- an index of each table.
WITH RECURSIVE records AS (
    (SELECT r.scope FROM idem_record r WHERE r.scope > '' ORDER BY r.scope LIMIT 1)
    UNION ALL
    SELECT (SELECT r.scope FROM idem_record r WHERE r.scope > s.scope ORDER BY r.scope LIMIT 1) FROM records s WHERE s.scope IS NOT NULL
), retries AS (
    (SELECT r.scope FROM msg_retry r WHERE r.scope > '' ORDER BY r.scope LIMIT 1)
    UNION ALL
    SELECT (SELECT r.scope FROM msg_retry r WHERE r.scope > s.scope ORDER BY r.scope LIMIT 1) FROM retries s WHERE s.scope IS NOT NULL
), letters AS (
    (SELECT d.scope FROM dead_letter d WHERE d.scope > '' AND d.redriven_at IS NULL ORDER BY d.scope LIMIT 1)
    UNION ALL
    SELECT (SELECT d.scope FROM dead_letter d WHERE d.scope > s.scope AND d.redriven_at IS NULL ORDER BY d.scope LIMIT 1)
    FROM letters s WHERE s.scope IS NOT NULL
)
SELECT scope FROM records WHERE scope IS NOT NULL
UNION
SELECT scope FROM retries WHERE scope IS NOT NULL
UNION
SELECT scope FROM letters WHERE scope IS NOT NULL
ORDER BY 1
