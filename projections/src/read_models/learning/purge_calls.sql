DELETE FROM rm_judge_calls WHERE owner_id = $1 AND trace_id = $2
