COPY rm_annotations (owner_id, annotation_id, trace_id, step_id, subject_id, rating, comment, quote, label_error,
    label_error_note, redacted, author_id, author_name, source, created_at, updated_at, version) FROM STDIN (FORMAT binary)
