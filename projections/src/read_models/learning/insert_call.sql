-- The first answer stands: a job that has used it must find it again.
INSERT INTO rm_judge_calls (owner_id, call_key, trace_id, reward_model_id, job_id, purpose, classifier_model, answer, input_tokens,
    output_tokens, cost_micros, recorded_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (owner_id, call_key, trace_id) DO NOTHING
