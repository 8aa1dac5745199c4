-- schema_applied: a migration was applied.
--
-- $1 int   version
-- $2 text  name
INSERT INTO idem_schema (version, name) VALUES ($1::int, $2::text)
