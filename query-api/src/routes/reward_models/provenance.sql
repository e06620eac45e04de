-- What a model was made of, once it was trained, and how far the steps of its training are.
SELECT m.dataset_digest, m.base_checksum, m.code_version, j.curve
FROM rm_reward_models AS m
JOIN rm_jobs AS j ON j.owner_id = m.owner_id AND j.job_id = m.job_id
WHERE m.owner_id = $1 AND m.reward_model_id = $2
