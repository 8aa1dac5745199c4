-- record_undo: remove records that claim.sql made in this transaction, and that nothing was decided to keep.
--
-- $1 text[]  scopes
-- $2 text[]  keys
DELETE FROM idem_record r
USING unnest($1::text[], $2::text[]) AS i (scope, key)
WHERE r.scope = i.scope AND r.key = i.key AND r.fence = 1 AND r.state = 1
