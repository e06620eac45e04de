UPDATE projection_lease
SET expires_at = now() + $4 * interval '1 second'
WHERE projection = $1 AND holder = $2 AND epoch = $3
