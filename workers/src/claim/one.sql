SELECT owner_id, job_id, kind, compute, reward_model_id, run_id, attempt, error_code, cancel_requested, created_at, updated_at,
    version, state
FROM rm_jobs
WHERE owner_id = $1 AND job_id = $2
