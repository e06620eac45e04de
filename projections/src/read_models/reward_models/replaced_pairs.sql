DELETE FROM rm_training_pairs WHERE owner_id = $1 AND reward_model_id = $2
