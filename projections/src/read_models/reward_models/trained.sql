UPDATE rm_reward_models
SET num_pairs = $3, metrics = $4, artifact_key = $5, artifact_digest = $6, action_mean = $7, action_std = $8,
    dataset_digest = $9, base_checksum = $10, code_version = $11
WHERE owner_id = $1 AND reward_model_id = $2
