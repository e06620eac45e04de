-- A re-import keeps the moment of the first import, and what was said of the title since. Followed by resolve_title.sql and
-- upsert_end.sql.
INSERT INTO rm_traces (owner_id, trace_id, subject_id, external_id, source_format, metadata, step_count, action_count, span_count,
    trace_digest, created_at, updated_at, title_basis, title, title_source, import_title, import_title_source, title_wanted,
    title_error)
SELECT $1, i.trace_id, i.subject_id, i.external_id, i.source_format, i.metadata, i.step_count, i.action_count, i.span_count,
    i.trace_digest, i.created_at, i.updated_at, i.title_basis, shown.*
FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::integer[], $10::integer[],
    $11::integer[], $12::bytea[], $13::bigint[], $14::bigint[], $15::bytea[]) AS i (trace_id, subject_id, external_id, title,
    title_source, source_format, metadata, step_count, action_count, span_count, trace_digest, created_at, updated_at,
    title_basis)
LEFT JOIN rm_trace_titles AS n ON n.owner_id = $1 AND n.trace_id = i.trace_id
