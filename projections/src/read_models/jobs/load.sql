SELECT owner_id, job_id, kind, compute, reward_model_id, run_id, state, attempt, worker, phase, fraction, curve, error_code, error,
    cancel_requested, created_at, started_at, updated_at, finished_at, version
FROM rm_jobs
WHERE (owner_id, job_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
