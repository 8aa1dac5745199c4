-- Takes version 1 of the tables away, with everything in them.
DROP TABLE outbox;
DROP TABLE idem_audit;
DROP TABLE idem_operation;
DROP TABLE dead_letter;
DROP TABLE idem_lane;
DROP TABLE msg_retry;
DROP TABLE idem_record;
DROP TABLE idem_schema;
