-- retry_next: in how many milliseconds the next row can be claimed, at least 0, rounded up; null where there is none.
WITH next AS (
    SELECT least(
        (SELECT r.next_retry_time FROM msg_retry r WHERE r.status = 'PENDING' AND r.claimed_until IS NULL ORDER BY r.next_retry_time, r.id LIMIT 1),
        (SELECT r.claimed_until FROM msg_retry r WHERE r.claimed_until IS NOT NULL ORDER BY r.claimed_until LIMIT 1)) AS at
)
SELECT CASE WHEN next.at IS NOT NULL THEN greatest(ceil(extract(epoch FROM next.at - clock_timestamp()) * 1000), 0)::bigint END FROM next
