DELETE FROM rm_scoring_runs WHERE owner_id = $1 AND reward_model_id = $2
