-- Models that were given a trace which is now deleted are marked, never silently kept as if untouched.
UPDATE rm_reward_models AS model
SET trained_on_erased = true
FROM rm_reward_model_traces AS selected
WHERE selected.owner_id = $1 AND selected.trace_id = $2
    AND model.owner_id = selected.owner_id AND model.reward_model_id = selected.reward_model_id
