-- The traces that a model was asked to learn from, as they were selected, without those that are gone.
SELECT selected.trace_id
FROM rm_reward_model_traces AS selected
JOIN rm_traces AS trace ON trace.owner_id = selected.owner_id AND trace.trace_id = selected.trace_id
WHERE selected.owner_id = $1 AND selected.reward_model_id = $2
ORDER BY selected.ordinal
