INSERT INTO identity_change (id, account_id, kind, payload) VALUES ($1, $2, $3, $4)
