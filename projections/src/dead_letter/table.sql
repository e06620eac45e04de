-- Records that could not be applied, in order: where they are and why, never what they hold.
-- scopes: what later records must not overtake them in; none for a record that could not be read.
CREATE TABLE dead_letter (
    partition integer NOT NULL,
    "offset" bigint NOT NULL,
    owner_id uuid,
    scopes text[] NOT NULL,
    code text NOT NULL,
    PRIMARY KEY (partition, "offset")
);
CREATE INDEX dead_letter_scopes ON dead_letter USING gin (scopes);
