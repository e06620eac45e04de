-- Only if it is still expired, and still this attempt.
DELETE FROM job_lease WHERE job_id = $1 AND attempt = $2 AND expires_at <= now()
