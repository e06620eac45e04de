SELECT trace_id, subject_id FROM rm_traces WHERE owner_id = $1 AND trace_id = ANY($2)
