INSERT INTO rm_reward_model_traces (owner_id, reward_model_id, ordinal, trace_id)
SELECT $1, $2, ordinal - 1, trace_id
FROM unnest($3::uuid[]) WITH ORDINALITY AS selected (trace_id, ordinal)
ON CONFLICT (owner_id, reward_model_id, ordinal) DO NOTHING
