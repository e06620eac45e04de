-- A scoring run and how its job stands.
SELECT r.run_id AS id, r.trace_id, r.reward_model_id, r.precision, r.created_at,
    j.state AS job_state, j.error AS job_error, j.started_at AS job_started_at, j.finished_at AS job_finished_at,
    j.cancel_requested AS job_cancel_requested, j.phase AS job_phase, j.fraction AS job_fraction
FROM rm_scoring_runs AS r
JOIN rm_jobs AS j ON j.owner_id = r.owner_id AND j.job_id = r.job_id
WHERE r.owner_id = $1 AND r.run_id = $2
