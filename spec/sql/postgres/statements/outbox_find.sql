-- outbox_find: messages in the outbox with a header, in the order of ids. The newest rows alone are looked at: there is
-- no index of headers, which every producer would pay for, and a row that waits is young.
--
-- $1 text  the header as the column headers has it, such as ["idempotency_key","payments.succeeded:v1:p-1"]
-- $2 int   look at so many of the newest rows
SELECT o.id, o.topic, o.message_key, o.headers, o.payload, o.created_at, o.attempts, o.failed, o.last_error, o.next_at
FROM (SELECT * FROM outbox n WHERE n.id > 0 ORDER BY n.id DESC LIMIT $2) o
WHERE position($1::text in o.headers) > 0
ORDER BY o.id
