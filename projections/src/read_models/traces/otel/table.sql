-- Spans and log records as they were sent. A span has record 0, a log record its digest. The content is JSON.
CREATE TABLE rm_otel_spans (
    owner_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    span_id bytea NOT NULL,
    record bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (owner_id, trace_id, span_id, record)
);
ALTER TABLE rm_otel_spans ALTER COLUMN content SET COMPRESSION lz4;

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
