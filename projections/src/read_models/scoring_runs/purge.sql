DELETE FROM rm_scoring_runs WHERE owner_id = $1 AND trace_id = $2
