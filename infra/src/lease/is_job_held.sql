SELECT EXISTS (SELECT FROM job_lease WHERE job_id = $1 AND expires_at > now())
