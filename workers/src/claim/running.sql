SELECT owner_id, job_id, kind, compute, reward_model_id, run_id, attempt, error_code, cancel_requested, created_at, updated_at,
    version
FROM rm_jobs
WHERE state = 'running'
ORDER BY updated_at, job_id
LIMIT 256
