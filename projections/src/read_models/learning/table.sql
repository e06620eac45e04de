-- That findings of a model were recorded, and what they took. No row: no extraction was recorded.
CREATE TABLE rm_learning_reports (
    owner_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    attempt integer NOT NULL,
    prompt_version integer NOT NULL,
    calls bigint NOT NULL,
    calls_made bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost_micros bigint,
    recorded_at bigint NOT NULL,
    PRIMARY KEY (owner_id, reward_model_id)
);

CREATE TABLE rm_findings (
    owner_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    ordinal integer NOT NULL,
    trace_id uuid NOT NULL,
    step_id uuid NOT NULL,
    step_index integer NOT NULL,
    tool_name text,
    label text NOT NULL,
    confidence text NOT NULL,
    source text NOT NULL,
    evidence_id uuid NOT NULL,
    evidence_quote text NOT NULL,
    reason text NOT NULL,
    classifier_model text NOT NULL,
    exclusion text,
    included_in_training boolean NOT NULL,
    PRIMARY KEY (owner_id, reward_model_id, ordinal)
);
CREATE INDEX rm_findings_by_trace ON rm_findings (owner_id, trace_id);

-- Answers of judges, by what was asked: a question that was answered is not asked again. Equal questions about two traces have a
-- row each, so that deleting one trace leaves the other's.
CREATE TABLE rm_judge_calls (
    owner_id uuid NOT NULL,
    call_key bytea NOT NULL,
    trace_id uuid NOT NULL,
    reward_model_id uuid NOT NULL,
    job_id uuid NOT NULL,
    purpose text NOT NULL,
    classifier_model text NOT NULL,
    answer text NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost_micros bigint,
    recorded_at bigint NOT NULL,
    PRIMARY KEY (owner_id, call_key, trace_id)
);
CREATE INDEX rm_judge_calls_by_trace ON rm_judge_calls (owner_id, trace_id);
CREATE INDEX rm_judge_calls_by_job ON rm_judge_calls (owner_id, job_id);
