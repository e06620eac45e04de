-- Scores that the model gave to actions of this trace. Those of texts that are no longer are passed over by their digest.
SELECT action_digest, score, dropped_tokens, target_cut
FROM rm_action_scores
WHERE owner_id = $1 AND reward_model_id = $2 AND trace_id = $3
