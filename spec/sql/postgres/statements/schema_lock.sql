-- schema_lock: one program at a time migrates; the others wait, and find it done.
SELECT pg_advisory_xact_lock(hashtextextended(coalesce(current_schema(), '') || '.idem_schema', 5022176834))
