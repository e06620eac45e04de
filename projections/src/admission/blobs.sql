-- Blobs that accepted records point at, those of dead letters too. Whatever else the store has of an owner may be collected.
CREATE TABLE es_blob (
    owner_id uuid NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (owner_id, digest)
);
