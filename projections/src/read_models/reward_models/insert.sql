-- An id is made once; were it made again, the first would stand.
INSERT INTO rm_reward_models (owner_id, reward_model_id, job_id, name, base_model, compute, epochs, max_pairs, seed,
    learning_rate, training, trace_count, num_pairs, metrics, artifact_key, artifact_digest, action_mean, action_std, trained_on_erased,
    created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, NULL, NULL, NULL, NULL, NULL, NULL, false, $13)
ON CONFLICT (owner_id, reward_model_id) DO NOTHING
