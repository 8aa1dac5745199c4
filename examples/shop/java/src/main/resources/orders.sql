-- The tables of the orders service, beside those of `idem migrate up`. A service of yours has migrations.
CREATE TABLE IF NOT EXISTS orders (
    order_id text PRIMARY KEY,
    customer_id bigint NOT NULL,
    total text NOT NULL,
    currency text NOT NULL,
    status text NOT NULL,
    version bigint NOT NULL,
    last_idempotency_key text NOT NULL,
    refund_requested_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- One row for each effect. No unique constraint: a second effect would be a second row, and has to be seen.
CREATE TABLE IF NOT EXISTS order_event (
    id bigserial PRIMARY KEY,
    order_id text NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    idempotency_key text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS order_event_order ON order_event (order_id);
