DELETE FROM rm_trace_subjects WHERE owner_id = $1 AND trace_id = $2 RETURNING subject_id
