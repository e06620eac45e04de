INSERT INTO api_key (id, account_id, scope, name, shown, hash, created_at, expires_at)
VALUES (
    $1, $2, $3, $4, $5, $6,
    timestamptz 'epoch' + $7::bigint * interval '1 microsecond',
    timestamptz 'epoch' + $8::bigint * interval '1 microsecond'
)
RETURNING id, account_id, scope, name, shown,
    (extract(epoch FROM created_at) * 1000000)::bigint AS created_at_us,
    (extract(epoch FROM last_used_at) * 1000000)::bigint AS last_used_at_us,
    (extract(epoch FROM expires_at) * 1000000)::bigint AS expires_at_us,
    (extract(epoch FROM revoked_at) * 1000000)::bigint AS revoked_at_us
