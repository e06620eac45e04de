UPDATE account SET reward_models_enabled = $2 WHERE id = $1
