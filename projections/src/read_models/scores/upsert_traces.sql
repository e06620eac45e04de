INSERT INTO rm_trace_scores (owner_id, reward_model_id, trace_id, score, trace_digest, dropped_tokens, created_at)
SELECT $1, $2, scored.*, $7
FROM unnest($3::uuid[], $4::double precision[], $5::bytea[], $6::integer[]) AS scored
ON CONFLICT (owner_id, reward_model_id, trace_id) DO UPDATE
SET score = excluded.score, trace_digest = excluded.trace_digest, dropped_tokens = excluded.dropped_tokens,
    created_at = excluded.created_at
