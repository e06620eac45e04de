-- How many runs of this trace and model were requested, and the run to join: one at work, else the newest. One statement, so that
-- both are of the same moment: a run that comes after it has moved the version on.
SELECT coalesce((SELECT version FROM es_stream WHERE owner_id = $1 AND stream = $4), 0) AS requested,
    run.run_id,
    coalesce(run.at_work, false) AS at_work
FROM (VALUES (true)) AS one
LEFT JOIN LATERAL (
    SELECT run.run_id, job.state IN ('queued', 'running') AS at_work
    FROM rm_scoring_runs AS run
    JOIN rm_jobs AS job ON job.owner_id = run.owner_id AND job.job_id = run.job_id
    WHERE run.owner_id = $1 AND run.trace_id = $2 AND run.reward_model_id = $3
    ORDER BY at_work DESC, run.created_at DESC, run.run_id
    LIMIT 1
) AS run ON true
