SELECT id, account_id, scope, name, shown,
    (extract(epoch FROM created_at) * 1000000)::bigint AS created_at_us,
    (extract(epoch FROM last_used_at) * 1000000)::bigint AS last_used_at_us,
    (extract(epoch FROM expires_at) * 1000000)::bigint AS expires_at_us,
    (extract(epoch FROM revoked_at) * 1000000)::bigint AS revoked_at_us
FROM api_key
WHERE account_id = $1
-- Those that work stand first, so that the limit never hides one.
ORDER BY revoked_at IS NOT NULL, created_at DESC, id
LIMIT $2
