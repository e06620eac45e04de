-- The findings of a model after number $3, at most $4.
SELECT ordinal, trace_id, step_index, label, confidence, source, evidence_id::text AS evidence_id, evidence_quote, reason,
    classifier_model, included_in_training, tool_name, exclusion
FROM rm_findings
WHERE owner_id = $1 AND reward_model_id = $2 AND ordinal > $3
ORDER BY ordinal
LIMIT $4
