-- schema_exists: whether there is a table of versions in the search_path.
SELECT to_regclass('idem_schema') IS NOT NULL
