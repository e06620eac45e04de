SELECT job_id, owner_id, attempt FROM job_lease WHERE expires_at <= now() ORDER BY expires_at, job_id LIMIT $1
