-- What an attempt says after a later one has spoken is passed over: no row.
INSERT INTO rm_learning_reports AS report (owner_id, reward_model_id, attempt, prompt_version, calls, calls_made, input_tokens,
    output_tokens, cost_micros, recorded_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (owner_id, reward_model_id) DO UPDATE
SET attempt = excluded.attempt, prompt_version = excluded.prompt_version, calls = excluded.calls,
    calls_made = excluded.calls_made, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    cost_micros = excluded.cost_micros, recorded_at = excluded.recorded_at
WHERE report.attempt <= excluded.attempt
RETURNING attempt
