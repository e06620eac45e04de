-- A page of the owner's traces, in the order of their ids.
SELECT trace_id FROM rm_traces WHERE owner_id = $1 AND ($2::uuid IS NULL OR trace_id > $2) ORDER BY trace_id LIMIT 256
