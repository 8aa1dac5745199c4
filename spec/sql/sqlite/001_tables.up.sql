-- Version 1 of the tables on SQLite (CONS-030). The names are those of PostgreSQL. Times are milliseconds since
-- 1970 UTC on the store's clock; 0 is none. Texts that have nothing to say are '', so that they compare;
-- payloads and message keys are NULL where they are null.

-- A program of version N works on tables of version N and N+1.
CREATE TABLE idem_schema (
    version    INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

-- The dedup record (DEDUP-010). Rows are small (results are rare), so the table is its own index.
-- state is 1 PROCESSING, 2 SUCCESS, 3 FAILED, 4 DEAD.
CREATE TABLE idem_record (
    scope         TEXT    NOT NULL,
    key           TEXT    NOT NULL,
    state         INTEGER NOT NULL,
    fence         INTEGER NOT NULL,
    attempts      INTEGER NOT NULL,
    owner         TEXT    NOT NULL,
    redrive_count INTEGER NOT NULL,
    position      INTEGER NOT NULL,
    retry_count   INTEGER NOT NULL,
    hold_count    INTEGER NOT NULL,
    lease_until   INTEGER NOT NULL,
    fingerprint   TEXT    NOT NULL,
    result        BLOB,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

-- For the cleaner.
CREATE INDEX idem_record_expires ON idem_record (expires_at);

-- The deliveries to come (DEDUP-027). AUTOINCREMENT: an id is never used again, and ids are the order of the
-- first writes, which is the order of a lane.
CREATE TABLE msg_retry (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    scope            TEXT    NOT NULL,
    idempotency_key  TEXT    NOT NULL,
    event_type       TEXT    NOT NULL,
    biz_key          TEXT    NOT NULL,
    msg_id           TEXT    NOT NULL,
    source_topic     TEXT    NOT NULL,
    source_partition INTEGER NOT NULL,
    source_offset    INTEGER NOT NULL,
    redrive_count    INTEGER NOT NULL,
    retry_count      INTEGER NOT NULL,
    hold_count       INTEGER NOT NULL,
    action           TEXT    NOT NULL,
    reason           TEXT    NOT NULL,
    topic            TEXT    NOT NULL,
    message_key      BLOB,
    headers          TEXT    NOT NULL,
    payload          BLOB,
    next_retry_time  INTEGER NOT NULL,
    status           TEXT    NOT NULL CHECK (status IN ('PENDING', 'PARKED')),
    lane_topic       TEXT    NOT NULL,
    lane_key         TEXT    NOT NULL,
    token            TEXT    NOT NULL DEFAULT '',
    claimed_until    INTEGER NOT NULL DEFAULT 0,
    publications     INTEGER NOT NULL DEFAULT 0,
    created_at       INTEGER NOT NULL,
    UNIQUE (scope, idempotency_key, source_topic, source_partition, source_offset)
) STRICT;

CREATE INDEX msg_retry_due ON msg_retry (next_retry_time, id) WHERE status = 'PENDING';
CREATE INDEX msg_retry_claimed ON msg_retry (claimed_until) WHERE token <> '';
CREATE INDEX msg_retry_parked ON msg_retry (scope, lane_topic, lane_key, id) WHERE status = 'PARKED';
CREATE INDEX msg_retry_held ON msg_retry (scope, biz_key) WHERE action = 'HOLD' AND status = 'PENDING';

-- The lanes that are parked, and the key of the head (CONS-013).
CREATE TABLE idem_lane (
    scope    TEXT    NOT NULL,
    topic    TEXT    NOT NULL,
    biz_key  TEXT    NOT NULL,
    head_key TEXT    NOT NULL,
    since    INTEGER NOT NULL,
    PRIMARY KEY (scope, topic, biz_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letter (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    scope            TEXT    NOT NULL,
    idempotency_key  TEXT    NOT NULL,
    event_type       TEXT    NOT NULL,
    biz_key          TEXT    NOT NULL,
    event_id         TEXT    NOT NULL,
    source_topic     TEXT    NOT NULL,
    source_partition INTEGER NOT NULL,
    source_offset    INTEGER NOT NULL,
    redrive_count    INTEGER NOT NULL,
    retry_count      INTEGER NOT NULL,
    hold_count       INTEGER NOT NULL,
    outcome          TEXT    NOT NULL,
    reason           TEXT    NOT NULL,
    topic            TEXT    NOT NULL,
    message_key      BLOB,
    headers          TEXT    NOT NULL,
    payload          BLOB,
    created_at       INTEGER NOT NULL,
    redriven_at      INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One for each delivery. Its place in the topic alone does not tell deliveries apart: a topic that was made anew counts
-- from 0 again, and what ends there is another message.
CREATE UNIQUE INDEX dead_letter_source ON dead_letter
    (scope, source_topic, source_partition, source_offset, idempotency_key, coalesce(payload, x''));

CREATE INDEX dead_letter_waiting ON dead_letter (scope, event_type, created_at) WHERE redriven_at = 0;
CREATE INDEX dead_letter_key ON dead_letter (idempotency_key);

-- What operators did by hand; ended_at is 0 where nobody knows how it ended.
CREATE TABLE idem_operation (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL DEFAULT 0,
    changed  INTEGER NOT NULL DEFAULT 0,
    operator TEXT    NOT NULL,
    command  TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    target   TEXT    NOT NULL
) STRICT;

-- What became of deliveries, counted by the hour (CONS-040).
CREATE TABLE idem_audit (
    hour       INTEGER NOT NULL,
    scope      TEXT    NOT NULL,
    event_type TEXT    NOT NULL,
    outcome    TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    layer      TEXT    NOT NULL,
    count      INTEGER NOT NULL,
    PRIMARY KEY (hour, scope, event_type, outcome, action, layer)
) STRICT, WITHOUT ROWID;

-- Messages that the broker has not confirmed (CONS-023), in the order of id within one (topic, message_key).
CREATE TABLE outbox (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    topic         TEXT    NOT NULL,
    message_key   BLOB,
    headers       TEXT    NOT NULL,
    payload       BLOB,
    created_at    INTEGER NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0,
    failed        INTEGER NOT NULL DEFAULT 0,
    last_error    TEXT    NOT NULL DEFAULT '',
    next_at       INTEGER NOT NULL DEFAULT 0,
    token         TEXT    NOT NULL DEFAULT '',
    claimed_until INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX outbox_key ON outbox (topic, message_key, id);
CREATE INDEX outbox_failed ON outbox (id) WHERE failed = 1;
