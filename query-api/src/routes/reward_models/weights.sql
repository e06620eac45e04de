-- The checkpoint archive of a model, once its training has succeeded.
SELECT m.artifact_key
FROM rm_reward_models AS m
JOIN rm_jobs AS j ON j.owner_id = m.owner_id AND j.job_id = m.job_id
WHERE m.owner_id = $1 AND m.reward_model_id = $2 AND j.state = 'succeeded' AND m.artifact_key IS NOT NULL
