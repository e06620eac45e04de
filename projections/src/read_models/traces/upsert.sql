-- A re-import keeps the moment of the first import.
INSERT INTO rm_traces (owner_id, trace_id, subject_id, external_id, title, title_source, source_format, metadata, step_count,
    action_count, span_count, trace_digest, created_at, updated_at)
SELECT $1, trace.*
FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::integer[], $10::integer[],
    $11::integer[], $12::bytea[], $13::bigint[], $14::bigint[]) AS trace
ON CONFLICT (owner_id, trace_id) DO UPDATE
SET subject_id = excluded.subject_id, external_id = excluded.external_id, title = excluded.title,
    title_source = excluded.title_source, source_format = excluded.source_format, metadata = excluded.metadata,
    step_count = excluded.step_count, action_count = excluded.action_count, span_count = excluded.span_count,
    trace_digest = excluded.trace_digest, updated_at = excluded.updated_at
