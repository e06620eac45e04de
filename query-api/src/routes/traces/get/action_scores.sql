-- The scores each model gave the actions as they stand: $5 of them after model $3, step $4.
SELECT s.reward_model_id, m.name AS reward_model_name, s.step_id, s.score, s.credit, s.dropped_tokens, s.target_cut,
    s.created_at, step.idx
FROM rm_action_scores AS s
JOIN rm_steps AS step ON step.owner_id = s.owner_id AND step.step_id = s.step_id AND step.trace_id = s.trace_id
    -- A score counts only while the text it was made from still stands.
    AND step.action_digest = s.action_digest
JOIN rm_reward_models AS m ON m.owner_id = s.owner_id AND m.reward_model_id = s.reward_model_id
WHERE s.owner_id = $1 AND s.trace_id = $2
    AND (s.reward_model_id, step.idx) > ($3, $4)
ORDER BY s.reward_model_id, step.idx
LIMIT $5
