-- Of these jobs, those that an attempt is at or will be.
SELECT job_id FROM rm_jobs WHERE state IN ('queued', 'running') AND job_id = ANY ($1)
