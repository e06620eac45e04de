-- Records that could not be applied, in order: where they are and why, never what they hold.
CREATE TABLE dead_letter (
    partition integer NOT NULL,
    "offset" bigint NOT NULL,
    owner_id uuid,
    streams text[] NOT NULL,
    code text NOT NULL,
    PRIMARY KEY (partition, "offset")
);
CREATE INDEX dead_letter_streams ON dead_letter USING gin (streams);
