SELECT id, account_id, kind, payload FROM identity_change ORDER BY id LIMIT $1
