-- Messages that the broker has not confirmed.

-- name: outbox_write
-- ?1 topic, ?2 message_key, ?3 headers, ?4 payload, ?5 now.
INSERT INTO outbox (topic, message_key, headers, payload, created_at, next_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5);

-- name: outbox_stored
-- ?1 topic, ?2 message_key.
SELECT EXISTS (SELECT 1 FROM outbox WHERE topic = ?1 AND message_key = ?2);

-- name: outbox_claim
-- ?1 token, ?2 now, ?3 claimed_until, ?4 limit. A row behind one of its (topic, message_key) that is claimed, not
-- due, or failed has to wait for it; a row without a key waits for none. The rows come in any order.
UPDATE outbox
   SET token = ?1, claimed_until = ?3
 WHERE id IN (
       SELECT o.id FROM outbox o
        WHERE o.failed = 0 AND o.next_at <= ?2 AND o.claimed_until <= ?2
          AND (o.message_key IS NULL OR NOT EXISTS (
              SELECT 1 FROM outbox b
               WHERE b.topic = o.topic AND b.message_key = o.message_key AND b.id < o.id
                 AND (b.failed = 1 OR b.next_at > ?2 OR b.claimed_until > ?2)))
        ORDER BY o.id LIMIT ?4)
RETURNING id, topic, message_key, headers, payload, created_at, attempts, failed, last_error, next_at, token,
          message_key IS NULL, payload IS NULL;

-- name: outbox_sent
-- ?1 id, ?2 token.
DELETE FROM outbox WHERE id = ?1 AND token = ?2;

-- name: outbox_give_back
-- ?1 id, ?2 token, ?3 next_at. It was not tried.
UPDATE outbox SET next_at = ?3, token = '', claimed_until = 0 WHERE id = ?1 AND token = ?2;

-- name: outbox_not_sent
-- ?1 id, ?2 token, ?3 last_error, ?4 next_at, ?5 failed.
UPDATE outbox
   SET attempts = attempts + 1, last_error = ?3, next_at = ?4, failed = ?5, token = '', claimed_until = 0
 WHERE id = ?1 AND token = ?2;

-- name: outbox_retry_failed
-- ?1 limit, ?2 now. The oldest first; the relay counts its tries from 0 again.
UPDATE outbox
   SET failed = 0, attempts = 0, next_at = ?2
 WHERE id IN (SELECT id FROM outbox WHERE failed = 1 ORDER BY id LIMIT ?1);

-- name: outbox_stats
SELECT (SELECT count(*) FROM outbox WHERE failed = 0), (SELECT count(*) FROM outbox WHERE failed = 1),
       (SELECT min(created_at) FROM outbox);

-- name: outbox_find
-- ?1 a header as the column headers has it, ?2 how many of the newest rows are looked at.
SELECT id, topic, message_key, headers, payload, created_at, attempts, failed, last_error, next_at, token,
       message_key IS NULL, payload IS NULL
  FROM (SELECT * FROM outbox ORDER BY id DESC LIMIT ?2)
 WHERE instr(headers, ?1) > 0 ORDER BY id;
