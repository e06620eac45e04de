SELECT 1 FROM rm_traces WHERE owner_id = $1 AND trace_id = $2
UNION ALL
SELECT 1 FROM rm_otel_traces WHERE owner_id = $1 AND trace_id = $2
LIMIT 1
