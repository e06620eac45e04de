-- The traces selected for a model, in the order of the request.
SELECT trace_id FROM rm_reward_model_traces WHERE owner_id = $1 AND reward_model_id = $2 ORDER BY ordinal
