CREATE TABLE rm_jobs (
    owner_id uuid NOT NULL,
    job_id uuid NOT NULL,
    kind text NOT NULL,
    compute text NOT NULL,
    reward_model_id uuid,
    run_id uuid,
    state text NOT NULL,
    attempt integer NOT NULL,
    worker text,
    phase text,
    fraction double precision NOT NULL,
    -- How far the steps of a training are and its points, JSON text.
    curve text,
    error_code text,
    error text,
    cancel_requested boolean NOT NULL,
    created_at bigint NOT NULL,
    started_at bigint,
    updated_at bigint NOT NULL,
    finished_at bigint,
    version bigint NOT NULL,
    PRIMARY KEY (owner_id, job_id)
);
-- Workers look for the oldest queued job of their class, and the reaper for running ones.
CREATE INDEX rm_jobs_open ON rm_jobs (state, compute, created_at) WHERE state IN ('queued', 'running');
