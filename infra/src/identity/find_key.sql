-- A key that works, with its account. `used_lately`: its use was noted within the hour.
SELECT k.account_id, k.scope, k.hash,
    (extract(epoch FROM k.expires_at) * 1000000)::bigint AS expires_at_us,
    coalesce(k.last_used_at > t.now - interval '1 hour', false) AS used_lately,
    a.role, a.reward_models_enabled, a.name
FROM api_key k
JOIN account a ON a.id = k.account_id
CROSS JOIN (SELECT timestamptz 'epoch' + $2::bigint * interval '1 microsecond') AS t (now)
WHERE k.id = $1
    AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > t.now)
