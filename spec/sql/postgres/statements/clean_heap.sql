-- clean_heap: the time; how many pages idem_record has, or the largest of its partitions; how many of them a slice of
-- clean.sql is, a megabyte over all partitions; and which files they are. With other files the table was written anew,
-- and nothing is known of its pages. See clean.sql.
SELECT clock_timestamp(), max(pg_relation_size(t.id)) / b.size, greatest(1048576 / b.size / count(*), 1),
       string_agg(pg_relation_filenode(t.id)::text, ' ' ORDER BY t.id)
FROM (
    SELECT c.oid FROM pg_class c WHERE c.oid = 'idem_record'::regclass AND c.relkind = 'r'
    UNION ALL
    SELECT p.relid FROM pg_partition_tree('idem_record') p WHERE p.isleaf
) AS t (id)
CROSS JOIN (SELECT current_setting('block_size')::bigint) AS b (size)
GROUP BY b.size
