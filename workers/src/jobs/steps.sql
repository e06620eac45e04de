SELECT step_id, role, content, tool_name, tool_input
FROM rm_steps
WHERE owner_id = $1 AND trace_id = $2
ORDER BY idx
