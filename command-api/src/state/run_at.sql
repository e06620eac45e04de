-- The run that a request of this trace and model got: its own if it began one, else the newest that was there at its time in the
-- log, which it joined. A log may keep its times in whole milliseconds, rounded down; and where two clocks differ so much that
-- nothing was there yet, it is the first that came.
SELECT run_id
FROM rm_scoring_runs
WHERE owner_id = $1 AND trace_id = $2 AND reward_model_id = $3
ORDER BY run_id = $4 DESC, created_at <= $5 + 1000 DESC,
    CASE WHEN created_at <= $5 + 1000 THEN -created_at ELSE created_at END, run_id
LIMIT 1
