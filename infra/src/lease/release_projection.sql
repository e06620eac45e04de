-- The row stays and keeps its epoch.
UPDATE projection_lease
SET expires_at = now()
WHERE projection = $1 AND holder = $2 AND epoch = $3
