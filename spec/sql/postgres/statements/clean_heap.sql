-- clean_heap: the time, how many pages the largest partition of idem_record has, and which files the partitions are.
-- With other files the tables were written anew, and nothing is known of their pages. See clean.sql.
SELECT clock_timestamp(), coalesce(max(pg_relation_size(t.relid)), 0) / current_setting('block_size')::bigint,
       coalesce(string_agg(pg_relation_filenode(t.relid)::text, ' ' ORDER BY t.relid), '')
FROM pg_partition_tree('idem_record') t
WHERE t.isleaf
