-- A million dead letters, a million deliveries to come, and records: what a long outage leaves. Nearly all are alike, and
-- what an operator looks for, a scope, an event type, a reason, is at the far end of each table. Half of them have the code
-- BUSY, and ten of these, at the far end, its detail eu.
SET synchronous_commit = off;
SET maintenance_work_mem = '256MB';

INSERT INTO dead_letter (created_at, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, event_type,
	biz_key, event_id, source_topic, outcome, reason, topic, headers, message_key, payload)
SELECT now() - i * interval '1 s', i, i % 12, 0, 5, 0, CASE WHEN i > 999900 THEN 'mail' ELSE 'payments' END,
	'payments.succeeded:v1:p-' || i, CASE WHEN i > 999900 THEN 'refund' ELSE 'type-' || i % 20 END, 'o-' || i, 'e-' || i, 'orders',
	CASE WHEN i > 999900 THEN 'CONFLICT' ELSE 'NON_RETRYABLE' END, CASE WHEN i > 999900 THEN 'NO_RATE: EUR' WHEN i % 2 = 0 THEN 'BANK_DOWN: 503' WHEN i > 999880 THEN 'BUSY: eu' ELSE 'BUSY: 429' END, 'orders',
	'[["idempotency_key","payments.succeeded:v1:p-' || i || '"],["event_type","type-1"]]', ('o-' || i)::bytea, convert_to(repeat('payload ', 20), 'UTF8')
FROM generate_series(1, 1000000) i;

INSERT INTO msg_retry (next_retry_time, source_offset, source_partition, redrive_count, retry_count, hold_count, scope, idempotency_key, event_type,
	biz_key, msg_id, source_topic, status, action, reason, topic, headers, message_key, payload)
SELECT now() + i * interval '1 ms', i, i % 12, 0, 1, 0, CASE WHEN i > 999900 THEN 'mail' ELSE 'payments' END,
	'payments.succeeded:v1:p-' || i, CASE WHEN i > 999900 THEN 'refund' ELSE 'type-' || i % 20 END, 'o-' || i, 'e-' || i, 'orders',
	CASE WHEN i > 999990 THEN 'PARKED' ELSE 'PENDING' END, CASE WHEN i > 999950 THEN 'HOLD' ELSE 'RETRY' END,
	CASE WHEN i > 999900 THEN 'NO_RATE: EUR' WHEN i % 2 = 0 THEN 'BANK_DOWN: 503' WHEN i > 999880 THEN 'BUSY: eu' ELSE 'BUSY: 429' END, 'orders.retry.payments',
	'[["idempotency_key","payments.succeeded:v1:p-' || i || '"],["event_type","type-1"]]', ('o-' || i)::bytea, convert_to(repeat('payload ', 20), 'UTF8')
FROM generate_series(1, 1000000) i;

INSERT INTO idem_record (scope, key, state, fence, attempts, position, created_at, updated_at, expires_at)
SELECT 'payments', 'payments.succeeded:v1:p-' || i, 1 + i % 4, i, 1, 0, now(), now(), now() + interval '14 days' FROM generate_series(1, {records}) i;

INSERT INTO idem_audit (hour, scope, event_type, outcome, action, layer, count)
SELECT date_trunc('hour', now()) - h * interval '1 hour', 'payments', 'type-' || t, o, 'ACK', '', h
FROM generate_series(0, 90 * 24 - 1) h CROSS JOIN generate_series(0, 19) t CROSS JOIN unnest('{OK,DUPLICATE,RETRYABLE}'::text[]) o;

INSERT INTO idem_operation (operator, command, reason, target) SELECT 'ops@host', 'dlq redrive', 'the bank is back', 'ids ' || i FROM generate_series(1, 10000) i;
