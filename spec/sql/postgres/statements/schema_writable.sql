-- schema_writable: whether the server is a standby, and whether transactions are read-only by default.
SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only')
