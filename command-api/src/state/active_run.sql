-- The run of this trace and model that is still at work: a second request joins it.
SELECT run.run_id
FROM rm_scoring_runs AS run
JOIN rm_jobs AS job ON job.owner_id = run.owner_id AND job.job_id = run.job_id
WHERE run.owner_id = $1 AND run.trace_id = $2 AND run.reward_model_id = $3 AND job.state IN ('queued', 'running')
ORDER BY run.created_at DESC
LIMIT 1
