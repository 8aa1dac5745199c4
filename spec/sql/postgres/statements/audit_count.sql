-- audit_count: add what was counted to the present hour. Call it every ten seconds, not for each message. (CONS-040)
-- The rows are locked in one order, so that processes that write at a time do not block each other. What comes twice is
-- added up.
--
-- $1 text[]    scopes
-- $2 text[]    event types; empty where the message has none
-- $3 text[]    outcomes, such as DUPLICATE, or SUPERSEDED
-- $4 text[]    actions that followed, such as ACK, RETRY and DEAD_LETTER
-- $5 text[]    layers: window, redis, store, state or handler; empty where nothing was kept from another effect
-- $6 bigint[]  how many
WITH clock AS MATERIALIZED (
    SELECT date_trunc('hour', clock_timestamp(), 'UTC') AS hour
)
INSERT INTO idem_audit AS a (hour, scope, event_type, outcome, action, layer, count)
SELECT c.hour, i.scope, i.event_type, i.outcome, i.action, i.layer, sum(i.count)::bigint
FROM clock c
CROSS JOIN unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    AS i (scope, event_type, outcome, action, layer, count)
GROUP BY c.hour, i.scope, i.event_type, i.outcome, i.action, i.layer
ORDER BY i.scope COLLATE "C", i.event_type COLLATE "C", i.outcome COLLATE "C", i.action COLLATE "C", i.layer COLLATE "C"
ON CONFLICT (hour, scope, event_type, outcome, action, layer) DO UPDATE SET count = a.count + excluded.count
