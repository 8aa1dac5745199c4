-- The service's own table, beside those of `idem migrate up`. No unique constraint: a second row would be a
-- second notification, and has to be seen.
CREATE TABLE IF NOT EXISTS notification (
    order_id text NOT NULL,
    channel text NOT NULL,
    template text NOT NULL,
    idempotency_key text NOT NULL,
    sent_at timestamptz NOT NULL
);
