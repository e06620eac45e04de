INSERT INTO rm_findings (owner_id, reward_model_id, ordinal, trace_id, step_id, step_index, tool_name, label, confidence, source,
    evidence_id, evidence_quote, reason, classifier_model, exclusion, included_in_training)
SELECT $1, $2, findings.*
FROM unnest($3::integer[], $4::uuid[], $5::uuid[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[], $11::uuid[],
    $12::text[], $13::text[], $14::text[], $15::text[], $16::boolean[]) AS findings
ON CONFLICT (owner_id, reward_model_id, ordinal) DO NOTHING
