-- What was sent, as it was sealed: a frame holds spans and log records of one trace out of one request. It is named by its key's
-- subject and its number in that request.
CREATE TABLE rm_otel_frames (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    frame integer NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (owner_id, trace_id, subject_id, frame)
);
ALTER TABLE rm_otel_frames ALTER COLUMN content SET COMPRESSION lz4;
-- Most frames fit beside the rest of their row once they are compressed.
ALTER TABLE rm_otel_frames SET (toast_tuple_target = 8160);

-- Spans and log records, and where they stand: of a frame's spans, or of its log records, the one at `place`. A span has record 0, a
-- log record its digest.
CREATE TABLE rm_otel_spans (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    span_id bytea NOT NULL,
    record bigint NOT NULL,
    subject_id uuid NOT NULL,
    frame integer NOT NULL,
    place integer NOT NULL,
    PRIMARY KEY (owner_id, trace_id, span_id, record)
);

-- Traces of which spans were sent live. `has_messages`: a call of a model is among them, so that there is something to show;
-- `stands`: what is shown under the trace's id is what its spans give, and no import that came later.
CREATE TABLE rm_otel_traces (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    external_id text NOT NULL,
    span_count integer NOT NULL,
    log_count integer NOT NULL,
    first_ns numeric(20),
    last_ns numeric(20),
    has_messages boolean NOT NULL,
    stands boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (owner_id, trace_id)
);
CREATE INDEX rm_otel_traces_pending ON rm_otel_traces (owner_id, updated_at DESC, trace_id) WHERE NOT has_messages;

-- What adding to a trace needs to know of it, so that it costs what is added. It can be made again from the spans, and its form
-- may depend on how they came, so that no digest goes over it.
CREATE TABLE rm_otel_states (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    memo bytea NOT NULL,
    PRIMARY KEY (owner_id, trace_id)
);
ALTER TABLE rm_otel_states ALTER COLUMN memo SET STORAGE EXTERNAL;
