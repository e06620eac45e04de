SELECT trace_id, subject_id, action_count FROM rm_traces WHERE owner_id = $1 AND trace_id = $2
