-- All of a trace's steps: what a person wrote and what not stands in their metadata.
SELECT step_id, role, content, tool_name, tool_input, tool_call_id, metadata
FROM rm_steps
WHERE owner_id = $1 AND trace_id = $2
ORDER BY idx
