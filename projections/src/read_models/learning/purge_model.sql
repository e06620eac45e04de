-- What judges answered stays with the traces: another model that asks the same need not ask again.
WITH report AS (
    DELETE FROM rm_learning_reports WHERE owner_id = $1 AND reward_model_id = $2
)
DELETE FROM rm_findings WHERE owner_id = $1 AND reward_model_id = $2
