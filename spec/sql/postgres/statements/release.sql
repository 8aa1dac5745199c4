-- release: end the leases of records that are PROCESSING, so that the next delivery of each takes it over under the
-- next fence. A holder that is alive renews its lease before that, or is fenced out. (DEDUP-028)
--
-- $1 text    scope
-- $2 text[]  keys
WITH locked AS MATERIALIZED (
    SELECT r.scope, r.key
    FROM (SELECT DISTINCT k COLLATE "C" AS key FROM unnest($2::text[]) AS k ORDER BY 1) i
    CROSS JOIN LATERAL (SELECT r.scope, r.key FROM idem_record r
                        WHERE r.scope = $1::text AND r.key = i.key AND r.state = 1 AND r.lease_until > clock_timestamp() FOR UPDATE) r
)
UPDATE idem_record r
SET lease_until = date_trunc('milliseconds', clock_timestamp())
FROM locked l
WHERE r.scope = l.scope AND r.key = l.key
