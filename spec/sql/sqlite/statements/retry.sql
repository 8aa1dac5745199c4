-- The deliveries to come, and the lanes that are parked.

-- name: retry_write
-- The columns in the order of the table, from scope to lane_key and created_at. A second write of one
-- delivery raises the row by (redrive_count, position), and takes it from the scheduler (DEDUP-027).
INSERT INTO msg_retry (scope, idempotency_key, event_type, biz_key, msg_id,
                       source_topic, source_partition, source_offset,
                       redrive_count, retry_count, hold_count, action, reason,
                       topic, message_key, headers, payload, next_retry_time, status, lane_topic, lane_key, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)
    ON CONFLICT (scope, idempotency_key, source_topic, source_partition, source_offset) DO UPDATE
   SET event_type = excluded.event_type, biz_key = excluded.biz_key, msg_id = excluded.msg_id,
       redrive_count = excluded.redrive_count, retry_count = excluded.retry_count,
       hold_count = excluded.hold_count,
       action = excluded.action, reason = excluded.reason, topic = excluded.topic,
       message_key = excluded.message_key, headers = excluded.headers, payload = excluded.payload,
       next_retry_time = excluded.next_retry_time, status = excluded.status,
       lane_topic = excluded.lane_topic, lane_key = excluded.lane_key,
       token = '', claimed_until = 0
 WHERE excluded.redrive_count > msg_retry.redrive_count
    OR (excluded.redrive_count = msg_retry.redrive_count
        AND excluded.retry_count + excluded.hold_count >= msg_retry.retry_count + msg_retry.hold_count);

-- name: retry_claim
-- ?1 token, ?2 now, ?3 claimed_until, ?4 limit. The rows come in any order.
UPDATE msg_retry
   SET token = ?1, claimed_until = ?3, publications = publications + 1
 WHERE id IN (
       SELECT id FROM msg_retry
        WHERE status = 'PENDING' AND next_retry_time <= ?2 AND claimed_until <= ?2
        ORDER BY next_retry_time, id LIMIT ?4)
RETURNING id, scope, idempotency_key, event_type, biz_key, msg_id,
          source_topic, source_partition, source_offset, redrive_count, retry_count, hold_count,
          action, reason, topic, message_key, headers, payload, next_retry_time, status,
          lane_topic, lane_key, token, publications, created_at,
          message_key IS NULL, payload IS NULL;

-- name: retry_mark
-- ?1 id, ?2 token, ?3 redrive_count, ?4 position. 0 rows: it was written again since (DEDUP-027).
DELETE FROM msg_retry
 WHERE id = ?1 AND token = ?2 AND redrive_count = ?3 AND retry_count + hold_count = ?4;

-- name: retry_postpone
-- ?1 id, ?2 token, ?3 redrive_count, ?4 position, ?5 next_retry_time.
UPDATE msg_retry
   SET token = '', claimed_until = 0, next_retry_time = ?5
 WHERE id = ?1 AND token = ?2 AND redrive_count = ?3 AND retry_count + hold_count = ?4;

-- name: retry_next
-- When the next row falls due: one that nobody has claimed, or one whose claim ends. NULL: none.
SELECT min(due) FROM (
       SELECT * FROM (SELECT next_retry_time AS due FROM msg_retry
                       WHERE status = 'PENDING' AND token = '' ORDER BY next_retry_time LIMIT 1)
        UNION ALL
       SELECT min(claimed_until) FROM msg_retry WHERE status = 'PENDING' AND token <> '');

-- name: retry_wake
-- ?1 scope, ?2 biz_key, ?3 now.
UPDATE msg_retry
   SET next_retry_time = ?3
 WHERE scope = ?1 AND biz_key = ?2 AND action = 'HOLD' AND status = 'PENDING' AND next_retry_time > ?3;

-- name: retry_count
-- ?1 now. How many are pending, how many parked, and when the oldest of those that are due was due, or NULL.
SELECT (SELECT count(*) FROM msg_retry WHERE status = 'PENDING'),
       (SELECT count(*) FROM msg_retry WHERE status = 'PARKED'),
       (SELECT min(next_retry_time) FROM msg_retry WHERE status = 'PENDING' AND next_retry_time <= ?1);

-- name: lane_read
-- ?1 scope, ?2 topic, ?3 biz_key, here and below.
SELECT head_key FROM idem_lane WHERE scope = ?1 AND topic = ?2 AND biz_key = ?3;

-- name: lane_write
-- ?4 head_key, ?5 now.
INSERT INTO idem_lane (scope, topic, biz_key, head_key, since)
VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (scope, topic, biz_key) DO UPDATE SET head_key = excluded.head_key, since = excluded.since;

-- name: lane_next
-- The key of the first that is parked, which becomes the head.
SELECT idempotency_key FROM msg_retry
 WHERE scope = ?1 AND lane_topic = ?2 AND lane_key = ?3 AND status = 'PARKED'
 ORDER BY id LIMIT 1;

-- name: lane_release
-- ?4 the key, ?5 now. All that is parked of the key: of two copies the first may be stale, and must not wait for
-- the other, which would wait behind its own key (CONS-014).
UPDATE msg_retry
   SET status = 'PENDING', next_retry_time = ?5, token = '', claimed_until = 0
 WHERE scope = ?1 AND lane_topic = ?2 AND lane_key = ?3 AND status = 'PARKED' AND idempotency_key = ?4;

-- name: lane_delete
DELETE FROM idem_lane WHERE scope = ?1 AND topic = ?2 AND biz_key = ?3;

-- name: lane_done
-- ?1 limit, ?2 a retention ago. The lanes whose head is done, or has no row and has not changed for as long as
-- records are kept; a younger head without a row is in the retry topic (CONS-015).
SELECT l.scope, l.topic, l.biz_key
  FROM idem_lane l LEFT JOIN idem_record r ON r.scope = l.scope AND r.key = l.head_key
 WHERE r.state IN (2, 4)
    OR (l.since <= ?2 AND coalesce(r.updated_at, 0) <= ?2
        AND NOT EXISTS (SELECT 1 FROM msg_retry m WHERE m.scope = l.scope AND m.idempotency_key = l.head_key))
 LIMIT ?1;

-- name: retry_list
-- ?1 scope, ?2 key, ?3 event_type, ?4 action, ?5 status, ?6 the code of the reason, or it, a colon and how the detail
-- begins: '' selects all. ?7 the id before, ?8 limit, ?9 now.
SELECT id, scope, idempotency_key, event_type, biz_key, msg_id,
       source_topic, source_partition, source_offset, redrive_count, retry_count, hold_count,
       action, reason, topic, message_key, headers, payload, next_retry_time, status,
       lane_topic, lane_key, CASE WHEN claimed_until > ?9 THEN token ELSE '' END, publications, created_at,
       message_key IS NULL, payload IS NULL
  FROM msg_retry
 WHERE id > ?7
   AND (?1 = '' OR scope = ?1) AND (?2 = '' OR idempotency_key = ?2) AND (?3 = '' OR event_type = ?3)
   AND (?4 = '' OR action = ?4) AND (?5 = '' OR status = ?5)
   AND (?6 = '' OR reason = ?6 OR substr(reason, 1, length(?6) + 1) = ?6 || ':'
        OR (instr(?6, ':') > 0 AND substr(reason, 1, length(?6)) = ?6))
 ORDER BY id LIMIT ?8;

-- name: retry_values
-- What the newest 10,000 have of scopes, event types and codes of reasons. ?1 limit of each.
WITH newest AS (
    SELECT scope, event_type, substr(reason, 1, instr(reason || ':', ':') - 1) AS code FROM msg_retry ORDER BY id DESC LIMIT 10000
)
SELECT 'scope', value FROM (SELECT DISTINCT scope AS value FROM newest WHERE scope <> '' ORDER BY 1 LIMIT ?1)
 UNION ALL SELECT 'event_type', value FROM (SELECT DISTINCT event_type AS value FROM newest WHERE event_type <> '' ORDER BY 1 LIMIT ?1)
 UNION ALL SELECT 'code', value FROM (SELECT DISTINCT code AS value FROM newest WHERE code <> '' ORDER BY 1 LIMIT ?1);
