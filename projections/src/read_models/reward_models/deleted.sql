SELECT EXISTS (SELECT FROM rm_deleted_reward_models WHERE owner_id = $1 AND reward_model_id = $2)
