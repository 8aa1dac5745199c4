-- The version of the tables.

-- name: schema_exists
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'idem_schema');

-- name: schema_version
SELECT coalesce(max(version), 0) FROM idem_schema;

-- name: schema_applied
-- ?1 version, ?2 name, ?3 now.
INSERT INTO idem_schema (version, name, applied_at) VALUES (?1, ?2, ?3);

-- name: schema_tables
SELECT count(*) FROM sqlite_schema
 WHERE type = 'table' AND name IN ('idem_schema', 'idem_record', 'msg_retry', 'idem_lane', 'dead_letter', 'idem_audit', 'outbox');
