-- schema_version: the version of the tables, 0 where there are none. In two steps, since a statement that names a table
-- that is not there cannot be prepared: this one is prepared once schema_exists.sql has said true.
SELECT coalesce(max(version), 0) FROM idem_schema
