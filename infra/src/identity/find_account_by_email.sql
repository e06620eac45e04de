SELECT id, email, name, role, reward_models_enabled, (extract(epoch FROM created_at) * 1000000)::bigint AS created_at_us
FROM account
WHERE email = $1
