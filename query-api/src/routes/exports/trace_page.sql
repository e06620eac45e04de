-- The next $4 traces in the order of their import, after time $2 and id $3, with what tells how much to read of each. In two
-- ranges, each of which the index gives in order, backwards: an import may have made very many traces at one moment.
SELECT t.trace_id, t.created_at, t.step_count, t.span_count,
    octet_length(t.title)::bigint + octet_length(t.metadata) AS head_bytes
FROM (
    (
        SELECT * FROM rm_traces
        WHERE owner_id = $1 AND created_at = $2 AND trace_id < $3
        ORDER BY created_at, trace_id DESC
        LIMIT $4
    )
    UNION ALL
    (
        SELECT * FROM rm_traces
        WHERE owner_id = $1 AND created_at > $2
        ORDER BY created_at, trace_id DESC
        LIMIT $4
    )
) AS t
ORDER BY t.created_at, t.trace_id DESC
LIMIT $4
