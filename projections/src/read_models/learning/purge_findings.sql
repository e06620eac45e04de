DELETE FROM rm_findings WHERE owner_id = $1 AND trace_id = $2
