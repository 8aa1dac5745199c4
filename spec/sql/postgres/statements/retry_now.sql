-- retry_now: make pending deliveries due now; those that are parked wait for the head of their lane.
--
-- $1 bigint[]  ids
WITH picked AS MATERIALIZED (
    SELECT r.id
    FROM (SELECT DISTINCT i AS id FROM unnest($1::bigint[]) AS i ORDER BY 1) i
    CROSS JOIN LATERAL (SELECT r.id FROM msg_retry r
                        WHERE r.id = i.id AND r.status = 'PENDING' AND r.next_retry_time > clock_timestamp() FOR UPDATE) r
)
UPDATE msg_retry r
SET next_retry_time = clock_timestamp()
FROM picked p
WHERE r.id = p.id
