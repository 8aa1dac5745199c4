-- Drops the tables of version 1, and all that they know: keys are new again after this, and what waits in
-- msg_retry, dead_letter and outbox is lost.
DROP TABLE outbox;
DROP TABLE idem_audit;
DROP TABLE idem_operation;
DROP TABLE dead_letter;
DROP TABLE idem_lane;
DROP TABLE msg_retry;
DROP TABLE idem_record;
DROP TABLE idem_schema;
