INSERT INTO dead_letter (partition, "offset", owner_id, scopes, code)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (partition, "offset") DO UPDATE SET code = excluded.code
