-- A later attempt takes over from an earlier one, alive or not: the log has given the job to it. Of two workers of one attempt
-- the log has accepted one claim only, so the other is refused here too.
INSERT INTO job_lease (job_id, owner_id, attempt, worker, expires_at)
VALUES ($1, $2, $3, $4, now() + $5 * interval '1 second')
ON CONFLICT (job_id) DO UPDATE
SET attempt = excluded.attempt, worker = excluded.worker, expires_at = excluded.expires_at
WHERE job_lease.attempt < excluded.attempt
    OR (job_lease.attempt = excluded.attempt AND job_lease.worker = excluded.worker)
