-- Who works on what right now. The log decides who may (a job's claim, a checkpoint's epoch); a lease only tells whether the one
-- who may is still alive, so a lost lease costs time and never correctness.

-- The worker of a job's attempt. The row goes when the attempt ends.
CREATE TABLE job_lease (
    job_id     uuid PRIMARY KEY,
    owner_id   uuid NOT NULL,
    attempt    integer NOT NULL CHECK (attempt >= 1),
    worker     text NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX job_lease_expires_at ON job_lease (expires_at);

-- The holder of a projection. The row stays: its epoch only grows.
CREATE TABLE projection_lease (
    projection text PRIMARY KEY,
    holder     text NOT NULL,
    epoch      bigint NOT NULL CHECK (epoch >= 1),
    expires_at timestamptz NOT NULL
);
