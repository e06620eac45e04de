UPDATE rm_reward_models SET name = $3 WHERE owner_id = $1 AND reward_model_id = $2
