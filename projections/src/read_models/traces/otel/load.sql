-- OFFSET 0 holds the planner to the primary keys, as in `replaced.sql`.
SELECT found.*
FROM unnest($2::uuid[]) AS wanted (trace_id)
CROSS JOIN LATERAL (
    SELECT t.trace_id, t.span_count, t.log_count, t.first_ns::text AS first_ns, t.last_ns::text AS last_ns, t.stands,
        t.created_at,
        (SELECT s.memo FROM rm_otel_states AS s WHERE s.owner_id = $1 AND s.trace_id = wanted.trace_id) AS memo
    FROM rm_otel_traces AS t
    WHERE t.owner_id = $1 AND t.trace_id = wanted.trace_id
    OFFSET 0
) AS found
