-- The tables of idem on PostgreSQL 14 and later, version 1. Requirements in brackets are those of spec/.
--
-- Texts that are compared or ordered are COLLATE "C": bytes, whatever the database's language, so that the
-- order in which keys are locked is the same for every client, and an index survives an update of the
-- system's locales. (DEDUP-030, KEY-021)
--
-- To have the tables in a schema of their own, put that schema first in the search_path of whoever connects.

CREATE TABLE idem_schema (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE idem_schema IS 'Versions of the tables of idem. A program of version N works on tables of version N and N+1.';

-- One row for each (scope, key). (DEDUP-010)
--
-- One table: a claim costs 0.8 to 1.9 µs more in one of eight partitions, and a completion in a handler's transaction
-- an eighth of that transaction. From a thousand messages a second on, when vacuum should work on a part at a time,
-- `idem migrate up --partitions 8` cuts it by a hash of the key; statements and programs are the same. It is never cut by
-- time: a unique index of such a table has to include the time, and stops finding duplicates.
--
-- The key has the only index, and never changes, so that updates stay HOT: they write no index. A page needs room for
-- the second version of its rows: see fillfactor. expires_at has none, since each claim would pay for it, and
-- the cleaner alone would read it: clean.sql reads the pages instead.
--
-- fillfactor: a batch of claims fills its pages to a half, and the completions of the batch have the other half
-- for the second versions. They fit, and no index is written; with 100 each completion writes the index,
-- and vacuum has to walk it. See spec/sql/README.md for the sizes.
-- Autovacuum starts at a fiftieth, not a fifth: a fifth of 10^9 rows is too late.
--
-- The widest columns of fixed size come first, which saves padding.
CREATE TABLE idem_record (
    fence         bigint NOT NULL,
    position      bigint NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    lease_until   timestamptz,
    redrive_count integer NOT NULL DEFAULT 0,
    retry_count   integer NOT NULL DEFAULT 0,
    hold_count    integer NOT NULL DEFAULT 0,
    attempts      integer NOT NULL DEFAULT 0,
    state         smallint NOT NULL,
    scope         text COLLATE "C" NOT NULL,
    key           text COLLATE "C" NOT NULL,
    owner         text COLLATE "C" NOT NULL DEFAULT '',
    fingerprint   text COLLATE "C" NOT NULL DEFAULT '',
    result        bytea,
    PRIMARY KEY (scope, key)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);
COMMENT ON TABLE idem_record IS 'Dedup records, one for each scope and idempotency key.';
COMMENT ON COLUMN idem_record.state IS '1 PROCESSING, 2 SUCCESS, 3 FAILED, 4 DEAD';
COMMENT ON COLUMN idem_record.lease_until IS 'The end of the claim of a row that is PROCESSING, on this server''s clock, in whole milliseconds.';
COMMENT ON COLUMN idem_record.expires_at IS 'From when the cleaner may take it: never sooner than the last change and the retention.';

-- Deliveries that are durable and still to come. Unique by the delivery that caused the row, not by the key:
-- two deliveries of one key may each have one to come. (DEDUP-027)
CREATE TABLE msg_retry (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    next_retry_time  timestamptz NOT NULL,
    claimed_until    timestamptz,
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    source_offset    bigint NOT NULL,
    source_partition integer NOT NULL,
    redrive_count    integer NOT NULL,
    retry_count      integer NOT NULL,
    hold_count       integer NOT NULL,
    publications     integer NOT NULL DEFAULT 0,
    scope            text COLLATE "C" NOT NULL,
    idempotency_key  text COLLATE "C" NOT NULL,
    source_topic     text COLLATE "C" NOT NULL,
    status           text COLLATE "C" NOT NULL,
    action           text COLLATE "C" NOT NULL,
    token            text COLLATE "C" NOT NULL DEFAULT '',
    lane_topic       text COLLATE "C" NOT NULL DEFAULT '',
    lane_key         text COLLATE "C" NOT NULL DEFAULT '',
    msg_id           text COLLATE "C" NOT NULL DEFAULT '',
    event_type       text COLLATE "C" NOT NULL DEFAULT '',
    biz_key          text COLLATE "C" NOT NULL DEFAULT '',
    reason           text COLLATE "C" NOT NULL DEFAULT '',
    topic            text COLLATE "C" NOT NULL,
    headers          text COLLATE "C" NOT NULL,
    message_key      bytea,
    payload          bytea,
    kind             bigint NOT NULL GENERATED ALWAYS AS (
        (hashtextextended(scope || chr(31) || event_type || chr(31) || status || chr(31) || action, 0) & -64)
        | (hashtextextended(split_part(reason, ':', 1), 0) & 63)) STORED,
    CONSTRAINT msg_retry_source UNIQUE (scope, idempotency_key, source_topic, source_partition, source_offset)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
COMMENT ON TABLE msg_retry IS 'Retries, holds, deferrals and redrives that a scheduler publishes when they fall due.';
COMMENT ON COLUMN msg_retry.status IS 'PENDING: due at next_retry_time. PARKED: waits for the head of its lane.';
COMMENT ON COLUMN msg_retry.token IS 'The scheduler that has claimed it, until claimed_until.';
COMMENT ON COLUMN msg_retry.headers IS 'JSON: [["name","text"],["name",null],["name",{"base64":"..."}]]';
COMMENT ON COLUMN msg_retry.payload IS 'The message''s bytes as they are; null is null.';
COMMENT ON COLUMN msg_retry.kind IS 'What an operator tells apart: a hash of scope, event type, status and action, and in the last 6 bits one of the reason''s code.';

-- Due rows, oldest first.
CREATE INDEX msg_retry_due ON msg_retry (next_retry_time, id) WHERE status = 'PENDING';
-- The first that waits in a lane.
CREATE INDEX msg_retry_parked ON msg_retry (scope, lane_topic, lane_key, id) WHERE status = 'PARKED';
-- Those that a state has to wake.
CREATE INDEX msg_retry_held ON msg_retry (scope, biz_key) WHERE action = 'HOLD' AND status = 'PENDING';
-- When the claims of schedulers end, which is when their rows are due again.
CREATE INDEX msg_retry_claimed ON msg_retry (claimed_until) WHERE claimed_until IS NOT NULL;
-- What an operator looks for, whatever it is, by one narrow index rather than one of each column.
CREATE INDEX msg_retry_kind ON msg_retry (kind, id);

-- Lanes that are stuck: later messages of one biz key of one topic park behind the one that heads them.
CREATE TABLE idem_lane (
    since    timestamptz NOT NULL DEFAULT clock_timestamp(),
    scope    text COLLATE "C" NOT NULL,
    topic    text COLLATE "C" NOT NULL,
    biz_key  text COLLATE "C" NOT NULL,
    head_key text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope, topic, biz_key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
COMMENT ON TABLE idem_lane IS 'Stuck lanes, and the idempotency key that heads each.';

-- Messages that ended, with all that is needed to understand and to redrive them.
CREATE TABLE dead_letter (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    redriven_at      timestamptz,
    source_offset    bigint NOT NULL,
    source_partition integer NOT NULL,
    redrive_count    integer NOT NULL,
    retry_count      integer NOT NULL,
    hold_count       integer NOT NULL,
    scope            text COLLATE "C" NOT NULL,
    idempotency_key  text COLLATE "C" NOT NULL,
    event_type       text COLLATE "C" NOT NULL DEFAULT '',
    biz_key          text COLLATE "C" NOT NULL DEFAULT '',
    event_id         text COLLATE "C" NOT NULL DEFAULT '',
    source_topic     text COLLATE "C" NOT NULL,
    outcome          text COLLATE "C" NOT NULL,
    reason           text COLLATE "C" NOT NULL DEFAULT '',
    topic            text COLLATE "C" NOT NULL,
    headers          text COLLATE "C" NOT NULL,
    message_key      bytea,
    payload          bytea
);
-- One for each delivery. Its place in the topic alone does not tell deliveries apart: a topic that was made anew counts
-- from 0 again, and what ends there is another message.
CREATE UNIQUE INDEX dead_letter_source ON dead_letter
    (scope, source_topic, source_partition, source_offset, idempotency_key, sha256(coalesce(payload, '')));
COMMENT ON TABLE dead_letter IS 'Messages that ended. Those with redriven_at are alive again.';

-- Those that wait, newest first, by each thing that an operator looks for: counts, the age for alerts, and lists that
-- begin anywhere, however the values lie in time. Dead letters are few beside messages, so that these cost little.
CREATE INDEX dead_letter_waiting ON dead_letter (scope, event_type, created_at, id) WHERE redriven_at IS NULL;
CREATE INDEX dead_letter_scope ON dead_letter (scope, created_at, id) WHERE redriven_at IS NULL;
CREATE INDEX dead_letter_type ON dead_letter (event_type, created_at, id) WHERE redriven_at IS NULL;
CREATE INDEX dead_letter_outcome ON dead_letter (outcome, created_at, id) WHERE redriven_at IS NULL;
-- A reason is a code, or a code, a colon and detail.
CREATE INDEX dead_letter_reason ON dead_letter (split_part(reason, ':', 1), created_at, id) WHERE redriven_at IS NULL;
-- And whatever its detail; not all of it, since a text may be longer than an index takes.
CREATE INDEX dead_letter_detail ON dead_letter (left(reason, 64), created_at, id) WHERE redriven_at IS NULL;
CREATE INDEX dead_letter_key ON dead_letter (idempotency_key);
CREATE INDEX dead_letter_created ON dead_letter (created_at, id);

-- What operators did by hand. A row is written before the change, and has no end where nobody knows how the change
-- ended.
CREATE TABLE idem_operation (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    changed  bigint NOT NULL DEFAULT 0,
    operator text COLLATE "C" NOT NULL,
    command  text COLLATE "C" NOT NULL,
    reason   text COLLATE "C" NOT NULL,
    target   text COLLATE "C" NOT NULL
);
COMMENT ON TABLE idem_operation IS 'What operators changed by hand, who and why.';

-- What became of deliveries, counted: a row for each hour and combination that occurred. (CONS-040)
--
-- Few rows, each of which every process adds to again and again: those updates write no index (HOT), and have room.
CREATE TABLE idem_audit (
    hour       timestamptz NOT NULL,
    count      bigint NOT NULL,
    scope      text COLLATE "C" NOT NULL,
    event_type text COLLATE "C" NOT NULL,
    outcome    text COLLATE "C" NOT NULL,
    action     text COLLATE "C" NOT NULL,
    layer      text COLLATE "C" NOT NULL,
    PRIMARY KEY (hour, scope, event_type, outcome, action, layer)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON TABLE idem_audit IS 'What became of deliveries, counted by the hour: duplicates stopped, retries, dead letters.';
COMMENT ON COLUMN idem_audit.hour IS 'Its begin, in UTC.';
COMMENT ON COLUMN idem_audit.layer IS 'What kept a message from another effect: window, redis, store, state, handler; empty where nothing had to.';

-- Messages that the broker has not confirmed yet. The order within a biz key is that of id.
CREATE TABLE outbox (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at    timestamptz NOT NULL,
    next_at       timestamptz NOT NULL,
    claimed_until timestamptz,
    attempts      integer NOT NULL DEFAULT 0,
    failed        boolean NOT NULL DEFAULT false,
    topic         text COLLATE "C" NOT NULL,
    token         text COLLATE "C" NOT NULL DEFAULT '',
    last_error    text COLLATE "C" NOT NULL DEFAULT '',
    headers       text COLLATE "C" NOT NULL,
    message_key   bytea,
    payload       bytea
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
COMMENT ON TABLE outbox IS 'Messages stored with the business data; a relay publishes and removes them.';
COMMENT ON COLUMN outbox.failed IS 'The relay has given up: a person has to look, and `RetryFailed` goes on.';

-- Whether a biz key has rows.
CREATE INDEX outbox_key ON outbox (topic, message_key, id);
-- Rows that may hold back those behind them: claimed, postponed or failed. Few, also where the backlog is long.
CREATE INDEX outbox_blocking ON outbox (topic, message_key, id)
    WHERE failed OR claimed_until IS NOT NULL OR next_at > created_at;
-- What a relay looks through, in order, past those that have failed; and those.
CREATE INDEX outbox_waiting ON outbox (id) WHERE NOT failed;
CREATE INDEX outbox_failed ON outbox (id) WHERE failed;
