-- The service's own tables, beside those of `idem migrate up`. No unique constraint: a second row would be a second
-- payment, and has to be seen. Of two instances that start at once one waits for the other.
SELECT pg_advisory_xact_lock(hashtext('shop.payments'));

CREATE TABLE IF NOT EXISTS payment (
    payment_id text NOT NULL,
    order_id text NOT NULL,
    amount numeric NOT NULL,
    currency text NOT NULL,
    idempotency_key text NOT NULL,
    paid_at timestamptz NOT NULL
);

CREATE INDEX IF NOT EXISTS payment_order ON payment (order_id);

CREATE TABLE IF NOT EXISTS refund (
    order_id text NOT NULL,
    amount numeric NOT NULL,
    currency text NOT NULL,
    idempotency_key text NOT NULL,
    at timestamptz NOT NULL
);
