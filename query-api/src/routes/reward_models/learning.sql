-- What the extraction of a model took; no row before it was recorded.
SELECT prompt_version, calls, calls_made, input_tokens, output_tokens, cost_micros, recorded_at
FROM rm_learning_reports
WHERE owner_id = $1 AND reward_model_id = $2
