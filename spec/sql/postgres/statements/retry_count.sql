-- retry_count: how many rows there are by status, and for how many milliseconds the oldest due one waits, 0 where none is.
SELECT (SELECT count(*) FROM msg_retry WHERE status = 'PENDING'),
       (SELECT count(*) FROM msg_retry WHERE status = 'PARKED'),
       coalesce(greatest(extract(epoch FROM clock_timestamp() -
           (SELECT r.next_retry_time FROM msg_retry r WHERE r.status = 'PENDING' ORDER BY r.next_retry_time, r.id LIMIT 1)) * 1000, 0), 0)::bigint
