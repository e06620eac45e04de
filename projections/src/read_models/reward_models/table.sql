CREATE TABLE rm_reward_models (
    owner_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    job_id uuid NOT NULL,
    name text,
    base_model text NOT NULL,
    compute text NOT NULL,
    epochs integer NOT NULL,
    max_pairs integer NOT NULL,
    seed bigint NOT NULL,
    learning_rate double precision,
    -- The other choices of the training, JSON text.
    training text NOT NULL DEFAULT '{}',
    trace_count bigint NOT NULL,
    num_pairs bigint,
    metrics text,
    artifact_key text,
    artifact_digest text,
    action_mean double precision,
    action_std double precision,
    dataset_digest text,
    base_checksum text,
    code_version text,
    trained_on_erased boolean NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (owner_id, reward_model_id)
);
-- What stays of a model that was deleted; all but its id and time is null for one that never was.
CREATE TABLE rm_deleted_reward_models (
    owner_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    job_id uuid,
    base_model text,
    artifact_digest text,
    created_at bigint,
    deleted_at bigint NOT NULL,
    PRIMARY KEY (owner_id, reward_model_id)
);
CREATE TABLE rm_reward_model_traces (
    owner_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    ordinal integer NOT NULL,
    trace_id uuid NOT NULL,
    PRIMARY KEY (owner_id, reward_model_id, ordinal)
);
CREATE INDEX rm_reward_model_traces_by_trace ON rm_reward_model_traces (owner_id, trace_id);

-- The exact pairs a model was trained on; two rows a pair.
CREATE TABLE rm_training_pairs (
    owner_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    ordinal integer NOT NULL,
    side text NOT NULL,
    trace_id uuid NOT NULL,
    step_id uuid,
    text text NOT NULL,
    granularity text NOT NULL,
    action_type text,
    source text NOT NULL,
    split text NOT NULL,
    -- Whether a model wrote this side.
    revised boolean NOT NULL DEFAULT false,
    -- What the preference rests on, JSON text; null for ratings.
    evidence text,
    PRIMARY KEY (owner_id, reward_model_id, ordinal, side)
);
CREATE INDEX rm_training_pairs_by_trace ON rm_training_pairs (owner_id, trace_id);
