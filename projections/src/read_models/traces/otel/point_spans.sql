-- Spans whose steps stand elsewhere now.
UPDATE rm_spans AS s
SET step_indices = moved.step_indices::integer[]
FROM unnest($2::uuid[], $3::text[], $4::text[]) AS moved (trace_id, span_id, step_indices)
WHERE s.owner_id = $1 AND s.trace_id = moved.trace_id AND s.idx = 0 AND s.span_id = moved.span_id
