-- Verdicts and stream versions: what admit() knows. One row per command and per stream.
CREATE TABLE es_command (
    command_id uuid PRIMARY KEY,
    owner_id uuid NOT NULL,
    verdict text NOT NULL,
    stream text,
    expected bigint,
    actual bigint,
    request_digest bytea NOT NULL,
    log_time bigint NOT NULL,
    partition integer NOT NULL,
    "offset" bigint NOT NULL
);
-- For the removal of forgotten verdicts. Times only grow within a partition, so its entries are always added at an end.
CREATE INDEX es_command_by_time ON es_command (partition, log_time);
CREATE TABLE es_stream (
    stream text PRIMARY KEY,
    owner_id uuid NOT NULL,
    version bigint NOT NULL
);
