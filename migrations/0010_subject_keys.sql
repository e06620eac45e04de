-- Keys of subjects, wrapped by a master key that is kept outside the database, in a file of the data folder. Deleting a row
-- erases everything that was sealed under it. Only the system role reads these tables: nothing is granted here.

-- Which master keys wrap rows. The keys themselves are never in the database.
CREATE TABLE master_key (
    -- Derived from the key itself.
    master_key_id uuid PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Set while its rows are moved to another master key: it then takes no new ones.
    retiring_at timestamptz
);

CREATE TABLE subject_key (
    owner_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    -- No foreign key: its check would lock the master key's row once per subject; `insert.sql` does so once per statement.
    master_key_id uuid NOT NULL,
    -- Version, nonce, encrypted key, tag.
    wrapped bytea NOT NULL CHECK (octet_length(wrapped) = 61),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_id, subject_id)
    -- A shredded key stays in its page until vacuum.
) WITH (autovacuum_vacuum_scale_factor = 0.01);

REVOKE ALL ON master_key, subject_key FROM PUBLIC;
