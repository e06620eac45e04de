SELECT trace_id, title, title_source, title_error FROM rm_traces WHERE owner_id = $1 AND trace_id = $2
