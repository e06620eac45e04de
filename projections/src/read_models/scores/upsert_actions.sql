INSERT INTO rm_action_scores (owner_id, reward_model_id, trace_id, step_id, score, credit, action_digest, dropped_tokens,
    target_cut, created_at)
SELECT $1, $2, scored.*, $10
FROM unnest($3::uuid[], $4::uuid[], $5::double precision[], $6::double precision[], $7::bytea[], $8::integer[],
    $9::boolean[]) AS scored
ON CONFLICT (owner_id, reward_model_id, trace_id, step_id) DO UPDATE
SET score = excluded.score, credit = excluded.credit, action_digest = excluded.action_digest,
    dropped_tokens = excluded.dropped_tokens, target_cut = excluded.target_cut, created_at = excluded.created_at
