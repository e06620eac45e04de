SELECT count(*) FROM rm_traces WHERE owner_id = $1 AND trace_id = ANY($2)
