) AS resolved
WHERE t.owner_id = $1 AND t.trace_id = $2
