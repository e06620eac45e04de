-- A new holder gets a new epoch; the same holder keeps its own.
INSERT INTO projection_lease (projection, holder, epoch, expires_at)
VALUES ($1, $2, 1, now() + $3 * interval '1 second')
ON CONFLICT (projection) DO UPDATE
SET holder = excluded.holder,
    epoch = projection_lease.epoch + (projection_lease.holder <> excluded.holder)::int,
    expires_at = excluded.expires_at
WHERE projection_lease.holder = excluded.holder OR projection_lease.expires_at <= now()
RETURNING epoch
