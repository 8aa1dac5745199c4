-- Dedup records. Each statement begins with its name; parameters are ?1, ?2 in the order named beside it.
-- ?1 is the scope and ?2 the key, unless something else is said; times are milliseconds; a state is 1 PROCESSING,
-- 2 SUCCESS, 3 FAILED, 4 DEAD.

-- name: record_read
SELECT state, fence, attempts, owner, redrive_count, position, retry_count, hold_count,
       lease_until, fingerprint, result, created_at, updated_at, expires_at
  FROM idem_record
 WHERE scope = ?1 AND key = ?2;

-- name: record_write
-- The columns in the order of the table. The caller has read the row in the same transaction, and decided.
INSERT INTO idem_record (scope, key, state, fence, attempts, owner, redrive_count, position,
                         retry_count, hold_count, lease_until, fingerprint, result,
                         created_at, updated_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
    ON CONFLICT (scope, key) DO UPDATE
   SET state = excluded.state, fence = excluded.fence, attempts = excluded.attempts, owner = excluded.owner,
       redrive_count = excluded.redrive_count, position = excluded.position,
       retry_count = excluded.retry_count, hold_count = excluded.hold_count,
       lease_until = excluded.lease_until, fingerprint = excluded.fingerprint, result = excluded.result,
       updated_at = excluded.updated_at, expires_at = excluded.expires_at;

-- name: record_complete
-- ?3 fence, ?4 owner, ?5 result, ?6 now, ?7 expires_at. 0 rows: fenced out (DEDUP-020).
UPDATE idem_record
   SET state = 2, result = ?5, lease_until = 0, updated_at = ?6, expires_at = max(expires_at, ?7)
 WHERE scope = ?1 AND key = ?2 AND fence = ?3 AND owner = ?4 AND state = 1;

-- name: record_settle
-- ?3 fence, ?4 owner, ?5 state, ?6 attempts given back, ?7 redrive_count, ?8 position, ?9 retry_count,
-- ?10 hold_count, ?11 now, ?12 expires_at. 0 rows: fenced out (DEDUP-020).
UPDATE idem_record
   SET state = ?5, attempts = max(attempts - ?6, 0), redrive_count = ?7, position = ?8,
       retry_count = ?9, hold_count = ?10, lease_until = 0, updated_at = ?11, expires_at = max(expires_at, ?12)
 WHERE scope = ?1 AND key = ?2 AND fence = ?3 AND owner = ?4 AND state = 1;

-- name: record_settle_unclaimed
-- The same for CRASH_LOOP, which holds no claim: ?4 is not used. 0 rows: fenced out (DEDUP-020).
UPDATE idem_record
   SET state = ?5, attempts = max(attempts - ?6, 0), redrive_count = ?7, position = ?8,
       retry_count = ?9, hold_count = ?10, lease_until = 0, updated_at = ?11, expires_at = max(expires_at, ?12)
 WHERE scope = ?1 AND key = ?2 AND fence = ?3
   AND (state = 3 OR (state = 1 AND lease_until <= ?11));

-- name: record_renew
-- ?3 fence, ?4 owner, ?5 lease_until, ?6 now, ?7 expires_at. 0 rows: fenced out (DEDUP-020).
UPDATE idem_record
   SET lease_until = max(lease_until, ?5), updated_at = ?6, expires_at = max(expires_at, ?7)
 WHERE scope = ?1 AND key = ?2 AND fence = ?3 AND owner = ?4 AND state = 1;

-- name: record_forget
-- ?3 now, ?4 expires_at. What remains admits everything, under the next fence (DEDUP-025).
UPDATE idem_record
   SET state = 3, fence = fence + (fence < 9223372036854775807), attempts = 0, owner = '',
       redrive_count = 0, position = 0, retry_count = 0, hold_count = 0, lease_until = 0, fingerprint = '',
       result = NULL, updated_at = ?3, expires_at = ?4
 WHERE scope = ?1 AND key = ?2;

-- name: record_clean_claimed
-- ?1 now, ?2 limit, ?3 expires_at. A claim that ended without a word keeps a tombstone (DEDUP-025).
UPDATE idem_record
   SET state = 3, fence = fence + (fence < 9223372036854775807), attempts = 0, owner = '',
       redrive_count = 0, position = 0, retry_count = 0, hold_count = 0, lease_until = 0, fingerprint = '',
       result = NULL, updated_at = ?1, expires_at = ?3
 WHERE (scope, key) IN (
       SELECT scope, key FROM idem_record
        WHERE expires_at <= ?1 AND state = 1 AND lease_until <= ?1
        ORDER BY expires_at LIMIT ?2);

-- name: record_clean
-- ?1 now, ?2 limit.
DELETE FROM idem_record
 WHERE (scope, key) IN (
       SELECT scope, key FROM idem_record
        WHERE expires_at <= ?1 AND state <> 1
        ORDER BY expires_at LIMIT ?2);

-- name: scopes
-- Those of records, deliveries to come and dead letters that wait. It skips from one to the next in an index of each.
WITH RECURSIVE records (scope) AS (
    SELECT min(scope) FROM idem_record
    UNION ALL
    SELECT (SELECT min(r.scope) FROM idem_record r WHERE r.scope > s.scope) FROM records s WHERE s.scope IS NOT NULL
), retries (scope) AS (
    SELECT min(scope) FROM msg_retry
    UNION ALL
    SELECT (SELECT min(r.scope) FROM msg_retry r WHERE r.scope > s.scope) FROM retries s WHERE s.scope IS NOT NULL
), letters (scope) AS (
    SELECT min(scope) FROM dead_letter WHERE redriven_at = 0
    UNION ALL
    SELECT (SELECT min(d.scope) FROM dead_letter d WHERE d.redriven_at = 0 AND d.scope > s.scope) FROM letters s WHERE s.scope IS NOT NULL
)
SELECT scope FROM records WHERE scope <> ''
 UNION SELECT scope FROM retries WHERE scope <> ''
 UNION SELECT scope FROM letters WHERE scope <> ''
 ORDER BY 1;
