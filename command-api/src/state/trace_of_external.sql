SELECT trace_id, subject_id, action_count
FROM rm_traces
WHERE owner_id = $1 AND external_id = $2
ORDER BY created_at DESC, trace_id
LIMIT 1
