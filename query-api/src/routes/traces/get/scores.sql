-- The score each model gave the trace as it stands. $2: null, so every model.
SELECT s.reward_model_id, s.reward_model_name, s.score, s.dropped_tokens, s.created_at
FROM current_scores AS s
WHERE s.trace_id = $3
ORDER BY s.created_at DESC, s.reward_model_id
