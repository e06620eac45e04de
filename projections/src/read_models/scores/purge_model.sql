WITH traces AS (
    DELETE FROM rm_trace_scores WHERE owner_id = $1 AND reward_model_id = $2
)
DELETE FROM rm_action_scores WHERE owner_id = $1 AND reward_model_id = $2
