-- The run that a request of this trace and model got: its own if it began one, else the newest that was there at its time in the
-- log, which it joined.
SELECT run_id
FROM rm_scoring_runs
WHERE owner_id = $1 AND trace_id = $2 AND reward_model_id = $3 AND (run_id = $4 OR created_at <= $5)
ORDER BY run_id = $4 DESC, created_at DESC, run_id
LIMIT 1
