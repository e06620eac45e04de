DELETE FROM rm_trace_scores WHERE owner_id = $1 AND trace_id = $2
