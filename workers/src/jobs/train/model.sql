SELECT base_model, epochs, max_pairs, seed, learning_rate, training
FROM rm_reward_models
WHERE owner_id = $1 AND reward_model_id = $2
