-- A lease that has expired and was not reaped yet is alive again: the log knows nothing of its end.
UPDATE job_lease
SET expires_at = now() + $4 * interval '1 second'
WHERE job_id = $1 AND attempt = $2 AND worker = $3
