-- The account is named too: nobody revokes another's key by its id.
UPDATE api_key
SET revoked_at = timestamptz 'epoch' + $3::bigint * interval '1 microsecond'
WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL
