-- What is left of blobs whose whole content was erased: the log still points at them, and a replay must find the places of their
-- frames. Only the system role reads these tables: nothing is granted here.
CREATE TABLE erased_blob (
    owner_id uuid NOT NULL,
    digest   bytea NOT NULL CHECK (octet_length(digest) = 32),
    -- A segment of the same frames without their content.
    husk     bytea NOT NULL,
    PRIMARY KEY (owner_id, digest)
);

-- How many deletions of an owner's traces the collector has followed up.
CREATE TABLE erased_sweep (
    owner_id  uuid PRIMARY KEY,
    deletions bigint NOT NULL
);

REVOKE ALL ON erased_blob, erased_sweep FROM PUBLIC;
