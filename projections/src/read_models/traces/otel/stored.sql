-- OFFSET 0 holds the planner to the primary key, as in `replaced.sql`.
SELECT found.*
FROM unnest($2::uuid[]) AS wanted (trace_id)
CROSS JOIN LATERAL (
    SELECT s.trace_id, s.span_id, s.record, s.subject_id, s.frame, s.place
    FROM rm_otel_spans AS s
    WHERE s.owner_id = $1 AND s.trace_id = wanted.trace_id
    OFFSET 0
) AS found
