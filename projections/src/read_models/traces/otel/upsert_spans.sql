INSERT INTO rm_otel_spans (owner_id, trace_id, span_id, record, content)
SELECT $1, span.* FROM unnest($2::uuid[], $3::bytea[], $4::bigint[], $5::bytea[]) AS span
ON CONFLICT (owner_id, trace_id, span_id, record) DO UPDATE SET content = excluded.content
