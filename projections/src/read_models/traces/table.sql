CREATE TABLE rm_traces (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    external_id text,
    title text NOT NULL,
    title_source text NOT NULL,
    source_format text NOT NULL,
    metadata text NOT NULL,
    step_count integer NOT NULL,
    action_count integer NOT NULL,
    span_count integer NOT NULL,
    trace_digest bytea NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    -- What the import says, while another title is shown in its place; null while its own is.
    import_title text,
    import_title_source text,
    -- Digest of the message that a derived title is from, and that a generated one must be about.
    title_basis bytea,
    -- Whether a language model is to be asked for a title, and why one that was asked gave none.
    title_wanted boolean NOT NULL DEFAULT false,
    title_error text,
    PRIMARY KEY (owner_id, trace_id)
);
ALTER TABLE rm_traces ALTER COLUMN metadata SET COMPRESSION lz4;
CREATE INDEX rm_traces_newest ON rm_traces (owner_id, created_at DESC, trace_id);
CREATE INDEX rm_traces_external ON rm_traces (owner_id, external_id) WHERE external_id IS NOT NULL;
-- By what does not change while a trace grows, so that its rows can be updated in place.
CREATE INDEX rm_traces_title_wanted ON rm_traces (created_at DESC) WHERE title_wanted;

-- What people and language models said of titles, whatever is imported again. Which of it is shown: resolve_title.sql.
CREATE TABLE rm_trace_titles (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    edited text,
    generated text,
    generated_basis bytea,
    generated_model text,
    failed_code text,
    failed_message text,
    failed_basis bytea,
    requested_at bigint,
    PRIMARY KEY (owner_id, trace_id)
);
CREATE INDEX rm_trace_titles_requested ON rm_trace_titles (requested_at) WHERE requested_at IS NOT NULL;

-- Each content subject a trace has ever had, so that its deletion can shred all of their keys.
CREATE TABLE rm_trace_subjects (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    PRIMARY KEY (owner_id, trace_id, subject_id)
);

CREATE TABLE rm_steps (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    idx integer NOT NULL,
    step_id uuid NOT NULL,
    role text NOT NULL,
    content text NOT NULL,
    tool_name text,
    tool_input text,
    tool_call_id text,
    metadata text,
    action_digest bytea,
    PRIMARY KEY (owner_id, trace_id, idx)
);
-- Joins annotations and action scores to the steps that still exist. It begins with the trace and not with the owner: an import
-- then writes to one place of it per trace, while step ids, which are random, would touch pages all over it.
CREATE INDEX rm_steps_by_id ON rm_steps (trace_id, step_id);
ALTER TABLE rm_steps
    ALTER COLUMN content SET COMPRESSION lz4, ALTER COLUMN tool_input SET COMPRESSION lz4, ALTER COLUMN metadata SET COMPRESSION lz4;

-- Spans of an import are numbered in their order. Those that were sent live all have 0 and are read by time, so that one that
-- comes late moves no other. Where `said_bytes` is set, input and output have about so many bytes and are made of what was sent
-- (`rm_otel_spans`) when they are read.
CREATE TABLE rm_spans (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    idx integer NOT NULL,
    span_id text NOT NULL,
    parent_id text,
    name text NOT NULL,
    kind text,
    start_ns numeric(20) NOT NULL,
    end_ns numeric(20) NOT NULL,
    input text,
    output text,
    said_bytes integer,
    step_indices integer[] NOT NULL,
    PRIMARY KEY (owner_id, trace_id, idx, span_id)
);
ALTER TABLE rm_spans ALTER COLUMN input SET COMPRESSION lz4, ALTER COLUMN output SET COMPRESSION lz4;
-- The conversation that a call repeats fits beside the rest of its row once it is compressed. The default of 2 kB would put it
-- elsewhere, which costs as much as the row itself.
ALTER TABLE rm_spans SET (toast_tuple_target = 4080);
