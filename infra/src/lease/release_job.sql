-- Attempt and worker are named, so that a late release never ends another's lease.
DELETE FROM job_lease WHERE job_id = $1 AND attempt = $2 AND worker = $3
