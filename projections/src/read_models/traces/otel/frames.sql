-- OFFSET 0 holds the planner to the primary key, as in `replaced.sql`.
SELECT found.*
FROM unnest($2::uuid[]) AS wanted (trace_id)
CROSS JOIN LATERAL (
    SELECT f.trace_id, f.subject_id, f.frame, f.content
    FROM rm_otel_frames AS f
    WHERE f.owner_id = $1 AND f.trace_id = wanted.trace_id
    OFFSET 0
) AS found
