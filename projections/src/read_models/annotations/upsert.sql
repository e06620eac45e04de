INSERT INTO rm_annotations (owner_id, annotation_id, trace_id, step_id, subject_id, rating, comment, quote, label_error,
    label_error_note, redacted, author_id, author_name, source, created_at, updated_at, version)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::smallint[], $7::text[], $8::text[],
    $9::boolean[], $10::text[], $11::boolean[], $12::uuid[], $13::text[], $14::text[], $15::bigint[], $16::bigint[],
    $17::bigint[])
ON CONFLICT (owner_id, annotation_id) DO UPDATE
SET trace_id = excluded.trace_id, step_id = excluded.step_id, subject_id = excluded.subject_id, rating = excluded.rating, comment = excluded.comment, quote = excluded.quote,
    label_error = excluded.label_error, label_error_note = excluded.label_error_note, redacted = excluded.redacted,
    author_id = excluded.author_id, author_name = excluded.author_name, source = excluded.source, created_at = excluded.created_at, updated_at = excluded.updated_at,
    version = excluded.version
