INSERT INTO rm_training_pairs (owner_id, reward_model_id, ordinal, side, trace_id, step_id, text, granularity, action_type,
    source, split, revised, evidence)
SELECT $1, $2, sides.*
FROM unnest($3::integer[], $4::text[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[],
    $11::text[], $12::boolean[], $13::text[]) AS sides
ON CONFLICT (owner_id, reward_model_id, ordinal, side) DO NOTHING
