DELETE FROM rm_action_scores WHERE owner_id = $1 AND trace_id = $2
