-- A score counts only while its digest equals that of the text as it now stands.
CREATE TABLE rm_trace_scores (
    owner_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    score double precision NOT NULL,
    trace_digest bytea NOT NULL,
    dropped_tokens integer NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (owner_id, reward_model_id, trace_id)
);
CREATE INDEX rm_trace_scores_by_trace ON rm_trace_scores (owner_id, trace_id);
CREATE TABLE rm_action_scores (
    owner_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    step_id uuid NOT NULL,
    score double precision NOT NULL,
    credit double precision NOT NULL,
    action_digest bytea NOT NULL,
    dropped_tokens integer NOT NULL,
    target_cut boolean NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (owner_id, reward_model_id, trace_id, step_id)
);
CREATE INDEX rm_action_scores_by_trace ON rm_action_scores (owner_id, trace_id);
