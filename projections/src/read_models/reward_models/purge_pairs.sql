-- Both sides of each pair in which the trace stands: half a pair teaches nothing.
DELETE FROM rm_training_pairs AS side
USING rm_training_pairs AS erased
WHERE erased.owner_id = $1 AND erased.trace_id = $2
    AND side.owner_id = erased.owner_id AND side.reward_model_id = erased.reward_model_id AND side.ordinal = erased.ordinal
