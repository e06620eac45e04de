SELECT job.job_id, job.state, job.attempt, job.version, model.compute
FROM rm_reward_models AS model
JOIN rm_jobs AS job ON job.owner_id = model.owner_id AND job.job_id = model.job_id
WHERE model.owner_id = $1 AND model.reward_model_id = $2
