SELECT trace_digest, score FROM rm_trace_scores
WHERE owner_id = $1 AND reward_model_id = $2 AND trace_id = $3 AND dropped_tokens = 0
