-- The account's row is locked until the key is in.
SELECT (
    SELECT count(*) FROM api_key k
    WHERE k.account_id = a.id
        AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > timestamptz 'epoch' + $2::bigint * interval '1 microsecond')
)
FROM account a
WHERE a.id = $1
FOR UPDATE OF a
