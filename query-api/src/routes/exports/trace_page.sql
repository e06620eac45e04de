-- The next $4 traces in the order of their import, after time $2 and id $3, with what tells how much to read of each.
SELECT t.trace_id, t.created_at, t.step_count, t.span_count,
    octet_length(t.title)::bigint + octet_length(t.metadata) AS head_bytes
FROM rm_traces AS t
WHERE t.owner_id = $1
    AND ($2::bigint IS NULL OR (t.created_at >= $2 AND (t.created_at > $2 OR t.trace_id < $3::uuid)))
-- Backwards through the index of the newest.
ORDER BY t.created_at, t.trace_id DESC
LIMIT $4
