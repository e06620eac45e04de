DELETE FROM rm_findings WHERE owner_id = $1 AND reward_model_id = $2
