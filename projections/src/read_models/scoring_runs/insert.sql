INSERT INTO rm_scoring_runs (owner_id, run_id, job_id, trace_id, reward_model_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (owner_id, run_id) DO NOTHING
