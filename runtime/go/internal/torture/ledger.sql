-- What the torture test observes. No constraint stops a second effect: it has to be seen.

CREATE TABLE control (hold boolean NOT NULL, stop boolean NOT NULL, calm boolean NOT NULL);
INSERT INTO control VALUES (false, false, false);

-- The producers' lanes. Their row is locked while a message is stored, so that the order of seq is that of commits.
CREATE TABLE lane (name text PRIMARY KEY, producer text NOT NULL, seq bigint NOT NULL);
CREATE INDEX ON lane (producer);

CREATE TABLE produced (
    key text PRIMARY KEY, kind text NOT NULL, topic text NOT NULL, lane text NOT NULL, seq bigint NOT NULL,
    how text NOT NULL, -- tx or direct
    acknowledged boolean NOT NULL, -- confirmed or stored
    doubt boolean NOT NULL DEFAULT false, -- the producer was told an error, or nothing
    copies integer NOT NULL DEFAULT 1,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE call (
    id bigint NOT NULL, key text NOT NULL, worker text NOT NULL, claimed timestamptz, lease_ms bigint NOT NULL,
    started timestamptz NOT NULL
);
CREATE TABLE call_end (id bigint NOT NULL, ended timestamptz NOT NULL, said text NOT NULL);
CREATE TABLE delivery (
    key text NOT NULL, worker text NOT NULL, at timestamptz NOT NULL, topic text NOT NULL, partition integer NOT NULL,
    position bigint NOT NULL, outcome text NOT NULL, action text NOT NULL, attempts bigint NOT NULL, reason text NOT NULL
);

CREATE TABLE effect (
    n bigserial, key text NOT NULL, place bigint NOT NULL, call bigint NOT NULL, worker text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Its row is locked from an effect to its commit: place counts in the order of commits.
CREATE TABLE done (lane text PRIMARY KEY, n bigint NOT NULL);

-- The state machine's rows. An effect is a row that moved, whoever moved it.
CREATE TABLE orders (
    id text PRIMARY KEY, status text NOT NULL, version bigint NOT NULL, last_key text NOT NULL, call bigint NOT NULL, worker text NOT NULL
);
CREATE FUNCTION order_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO effect (key, place, call, worker) VALUES (NEW.last_key, NEW.version, NEW.call, NEW.worker);
    RETURN NEW;
END $$;
CREATE TRIGGER order_moved AFTER INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION order_moved();

CREATE TABLE committed (n bigserial, grp text NOT NULL, topic text NOT NULL, partition integer NOT NULL, place bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE lag (grp text PRIMARY KEY, behind bigint NOT NULL, at timestamptz NOT NULL);
-- Keys that were given another life, out of their lane by design.
CREATE TABLE redriven (key text PRIMARY KEY);
