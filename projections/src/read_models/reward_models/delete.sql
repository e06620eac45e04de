-- The model goes with the traces selected for it and its pairs. What it was stays, so that nothing said of it later comes back.
WITH model AS (
    DELETE FROM rm_reward_models WHERE owner_id = $1 AND reward_model_id = $2 RETURNING *
), selected AS (
    DELETE FROM rm_reward_model_traces WHERE owner_id = $1 AND reward_model_id = $2
), pairs AS (
    DELETE FROM rm_training_pairs WHERE owner_id = $1 AND reward_model_id = $2
)
INSERT INTO rm_deleted_reward_models (owner_id, reward_model_id, job_id, base_model, artifact_digest, created_at, deleted_at)
SELECT $1, $2, model.job_id, model.base_model, model.artifact_digest, model.created_at, $3
FROM (VALUES (true)) AS one
LEFT JOIN model ON true
ON CONFLICT (owner_id, reward_model_id) DO NOTHING
