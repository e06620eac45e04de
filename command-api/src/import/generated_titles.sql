SELECT trace_id, title, title_basis
FROM rm_traces
WHERE owner_id = $1 AND trace_id = ANY ($2) AND title_source = 'generated'
