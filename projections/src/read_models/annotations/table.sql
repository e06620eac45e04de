CREATE TABLE rm_annotations (
    owner_id uuid NOT NULL,
    annotation_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    step_id uuid,
    subject_id uuid NOT NULL,
    rating smallint,
    comment text,
    quote text,
    label_error boolean NOT NULL,
    label_error_note text,
    redacted boolean NOT NULL,
    author_id uuid NOT NULL,
    author_name text,
    source text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (owner_id, annotation_id)
);
CREATE INDEX rm_annotations_by_trace ON rm_annotations (owner_id, trace_id);
-- Which annotations an import brought; one that is not in rm_annotations any more was deleted by a person.
CREATE TABLE rm_judgments (
    owner_id uuid NOT NULL,
    annotation_id uuid NOT NULL,
    trace_id uuid NOT NULL,
    PRIMARY KEY (owner_id, annotation_id)
);
CREATE INDEX rm_judgments_by_trace ON rm_judgments (owner_id, trace_id);
