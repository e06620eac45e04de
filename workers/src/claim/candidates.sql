-- The oldest jobs that a worker of these classes may take now. A hint: the claim itself is decided by the log.
SELECT owner_id, job_id, kind, compute, reward_model_id, run_id, attempt, error_code, cancel_requested, created_at, updated_at,
    version
FROM rm_jobs
WHERE state = 'queued' AND compute = ANY($1)
ORDER BY created_at, job_id
LIMIT 32
