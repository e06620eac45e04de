COPY rm_steps (owner_id, trace_id, idx, step_id, role, content, tool_name, tool_input, tool_call_id, metadata, action_digest)
FROM STDIN (FORMAT binary)
