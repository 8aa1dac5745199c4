-- outbox_lock: one relay at a time claims or postpones, in a statement before it, so that the next one sees what
-- the relay before has written: of one biz key no row is claimed behind one that another relay has.
SELECT pg_advisory_xact_lock(hashtextextended(coalesce(current_schema(), '') || '.outbox', 5022176834))
