-- The owner's reward models, newest first: $2 of them after the first $3, and how the job of each stands.
SELECT m.reward_model_id AS id, m.name, m.base_model, m.compute, m.epochs, m.max_pairs, m.seed, m.learning_rate, m.training,
    m.trace_count, m.num_pairs, m.metrics, m.trained_on_erased, m.created_at,
    j.state AS job_state, j.error AS job_error, j.started_at AS job_started_at, j.finished_at AS job_finished_at,
    j.cancel_requested AS job_cancel_requested, j.phase AS job_phase, j.fraction AS job_fraction
FROM rm_reward_models AS m
JOIN rm_jobs AS j ON j.owner_id = m.owner_id AND j.job_id = m.job_id
WHERE m.owner_id = $1
ORDER BY m.created_at DESC, m.reward_model_id
LIMIT $2 OFFSET $3
