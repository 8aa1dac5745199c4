-- schema_reverted: a migration was taken back. Version 1 takes the table with it.
--
-- $1 int  version
DELETE FROM idem_schema WHERE version = $1::int
