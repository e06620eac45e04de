UPDATE rm_scoring_runs SET precision = $3 WHERE owner_id = $1 AND run_id = $2
