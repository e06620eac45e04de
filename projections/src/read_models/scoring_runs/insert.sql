INSERT INTO rm_scoring_runs (owner_id, run_id, job_id, trace_id, reward_model_id, created_at)
SELECT $1, $2, $3, $4, $5, $6
WHERE NOT EXISTS (SELECT FROM rm_deleted_reward_models WHERE owner_id = $1 AND reward_model_id = $5)
ON CONFLICT (owner_id, run_id) DO NOTHING
