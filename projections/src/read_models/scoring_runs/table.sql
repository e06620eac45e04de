CREATE TABLE rm_scoring_runs (
    owner_id uuid NOT NULL,
    run_id uuid NOT NULL,
    job_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    created_at bigint NOT NULL,
    -- Arithmetic of the scores it computed; null before, and where all were known.
    precision text,
    PRIMARY KEY (owner_id, run_id)
);
CREATE INDEX rm_scoring_runs_by_trace ON rm_scoring_runs (owner_id, trace_id, reward_model_id, created_at);
