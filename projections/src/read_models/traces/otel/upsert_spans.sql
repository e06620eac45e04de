INSERT INTO rm_otel_spans (owner_id, trace_id, span_id, record, subject_id, frame, place)
SELECT $1, span.*
FROM unnest($2::uuid[], $3::bytea[], $4::bigint[], $5::uuid[], $6::integer[], $7::integer[]) AS span
ON CONFLICT (owner_id, trace_id, span_id, record) DO UPDATE
SET subject_id = excluded.subject_id, frame = excluded.frame, place = excluded.place
