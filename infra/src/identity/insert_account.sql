-- No row comes back when the address is taken.
INSERT INTO account (id, email, name, role, created_at)
VALUES ($1, $2, $3, $4, timestamptz 'epoch' + $5::bigint * interval '1 microsecond')
ON CONFLICT (email) DO NOTHING
RETURNING id, email, name, role, reward_models_enabled, (extract(epoch FROM created_at) * 1000000)::bigint AS created_at_us
