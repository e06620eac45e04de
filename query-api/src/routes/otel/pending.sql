-- Traces of which spans were sent but no call of a model yet, those that changed last first: $2 of them after the first $3.
SELECT t.trace_id AS id, t.external_id AS trace_id, t.span_count, t.log_count, t.first_ns::text AS first_ns,
    t.last_ns::text AS last_ns, t.updated_at
FROM rm_otel_traces AS t
WHERE t.owner_id = $1 AND NOT t.has_messages
ORDER BY t.updated_at DESC, t.trace_id
LIMIT $2 OFFSET $3
