-- The first of these traces, in the caller's order, that the caller does not own.
SELECT wanted.trace_id
FROM unnest($2::uuid[]) WITH ORDINALITY AS wanted (trace_id, ordinal)
WHERE NOT EXISTS (
    SELECT FROM rm_traces AS trace WHERE trace.owner_id = $1 AND trace.trace_id = wanted.trace_id
)
ORDER BY wanted.ordinal
LIMIT 1
