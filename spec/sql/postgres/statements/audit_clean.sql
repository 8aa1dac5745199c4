-- audit_clean: remove old hours.
--
-- $1 bigint  how long they are kept, in milliseconds
-- $2 int     at most so many rows
DELETE FROM idem_audit a
WHERE a.ctid = ANY (ARRAY(
    SELECT o.ctid
    FROM idem_audit o
    WHERE o.hour < (SELECT clock_timestamp()) - $1 * interval '1 millisecond'
    ORDER BY o.hour
    LIMIT $2
    FOR UPDATE SKIP LOCKED
))
