-- The messages that ended, and why.

-- name: dead_letter_write
-- The columns in the order of the table, from scope to created_at. A second write while the first one waits,
-- after a lost reply, changes nothing; one that was redriven, or is of an earlier life, is written anew, since
-- the delivery ends once more.
INSERT INTO dead_letter (scope, idempotency_key, event_type, biz_key, event_id,
                         source_topic, source_partition, source_offset,
                         redrive_count, retry_count, hold_count, outcome, reason,
                         topic, message_key, headers, payload, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
    ON CONFLICT (scope, source_topic, source_partition, source_offset, idempotency_key, coalesce(payload, x'')) DO UPDATE
   SET idempotency_key = excluded.idempotency_key, event_type = excluded.event_type, biz_key = excluded.biz_key,
       event_id = excluded.event_id, redrive_count = excluded.redrive_count, retry_count = excluded.retry_count,
       hold_count = excluded.hold_count, outcome = excluded.outcome, reason = excluded.reason,
       topic = excluded.topic, message_key = excluded.message_key, headers = excluded.headers,
       payload = excluded.payload, created_at = excluded.created_at, redriven_at = 0
 WHERE dead_letter.redriven_at <> 0 OR excluded.redrive_count > dead_letter.redrive_count;

-- name: dead_letter_list
-- ?1 scope, ?2 key, ?3 event_type, ?4 outcome, ?5 the beginning of the reason: '' selects all. ?6 since,
-- ?7 until: 0 selects all. ?8 1 with those redriven. ?9 the id before, ?10 limit.
SELECT id, scope, idempotency_key, event_type, biz_key, event_id, source_topic, source_partition, source_offset,
       redrive_count, retry_count, hold_count, outcome, reason, topic, message_key, headers, payload,
       created_at, redriven_at, message_key IS NULL, payload IS NULL
  FROM dead_letter
 WHERE id > ?9
   AND (?1 = '' OR scope = ?1) AND (?2 = '' OR idempotency_key = ?2) AND (?3 = '' OR event_type = ?3)
   AND (?4 = '' OR outcome = ?4) AND substr(reason, 1, length(?5)) = ?5
   AND (?6 = 0 OR created_at >= ?6) AND (?7 = 0 OR created_at < ?7) AND (?8 = 1 OR redriven_at = 0)
 ORDER BY id LIMIT ?10;

-- name: dead_letter_recent
-- Newest first. ?1 to ?8 as in dead_letter_list, but ?5 is a code, or a code, a colon and how the detail begins. ?9
-- behind the one created at this time, 0: from the newest, ?10 with this id, ?11 limit.
SELECT id, scope, idempotency_key, event_type, biz_key, event_id, source_topic, source_partition, source_offset,
       redrive_count, retry_count, hold_count, outcome, reason, topic, message_key, headers, payload,
       created_at, redriven_at, message_key IS NULL, payload IS NULL
  FROM dead_letter
 WHERE (?1 = '' OR scope = ?1) AND (?2 = '' OR idempotency_key = ?2) AND (?3 = '' OR event_type = ?3)
   AND (?4 = '' OR outcome = ?4)
   AND (?5 = '' OR reason = ?5 OR substr(reason, 1, length(?5) + 1) = ?5 || ':'
        OR (instr(?5, ':') > 0 AND substr(reason, 1, length(?5)) = ?5))
   AND (?6 = 0 OR created_at >= ?6) AND (?7 = 0 OR created_at < ?7) AND (?8 = 1 OR redriven_at = 0)
   AND (?9 = 0 OR created_at < ?9 OR (created_at = ?9 AND id < ?10))
 ORDER BY created_at DESC, id DESC LIMIT ?11;

-- name: dead_letter_count
-- ?1 to ?8 as in dead_letter_list.
SELECT count(*)
  FROM dead_letter
 WHERE (?1 = '' OR scope = ?1) AND (?2 = '' OR idempotency_key = ?2) AND (?3 = '' OR event_type = ?3)
   AND (?4 = '' OR outcome = ?4) AND substr(reason, 1, length(?5)) = ?5
   AND (?6 = 0 OR created_at >= ?6) AND (?7 = 0 OR created_at < ?7) AND (?8 = 1 OR redriven_at = 0);

-- name: dead_letter_redriven
-- ?1 id, ?2 now. 0 rows: it was redriven or dropped before.
UPDATE dead_letter SET redriven_at = ?2 WHERE id = ?1 AND redriven_at = 0;

-- name: dead_letter_drop
DELETE FROM dead_letter WHERE id = ?1;

-- name: dead_letter_stats
SELECT scope, event_type, count(*), min(created_at)
  FROM dead_letter WHERE redriven_at = 0
 GROUP BY scope, event_type ORDER BY scope, event_type;

-- name: dead_values
-- What the newest 10,000 that wait have of each thing they are looked for by. ?1 limit of each.
WITH newest AS (
    SELECT scope, event_type, outcome, substr(reason, 1, instr(reason || ':', ':') - 1) AS code
      FROM dead_letter WHERE redriven_at = 0 ORDER BY id DESC LIMIT 10000
)
SELECT 'scope', value FROM (SELECT DISTINCT scope AS value FROM newest WHERE scope <> '' ORDER BY 1 LIMIT ?1)
 UNION ALL SELECT 'event_type', value FROM (SELECT DISTINCT event_type AS value FROM newest WHERE event_type <> '' ORDER BY 1 LIMIT ?1)
 UNION ALL SELECT 'outcome', value FROM (SELECT DISTINCT outcome AS value FROM newest ORDER BY 1 LIMIT ?1)
 UNION ALL SELECT 'code', value FROM (SELECT DISTINCT code AS value FROM newest WHERE code <> '' ORDER BY 1 LIMIT ?1);
