-- How far each partition has been applied. Moved by compare-and-swap in the transaction that applies the records.
CREATE TABLE es_checkpoint (
    partition integer PRIMARY KEY,
    log_id uuid NOT NULL,
    next_offset bigint NOT NULL,
    epoch bigint NOT NULL
);
