DELETE FROM rm_judgments
WHERE (owner_id, trace_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
