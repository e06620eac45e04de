INSERT INTO rm_steps (owner_id, trace_id, idx, step_id, role, content, tool_name, tool_input, tool_call_id, metadata,
    action_digest)
SELECT $1, step.*
FROM unnest($2::uuid[], $3::integer[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
    $11::bytea[]) AS step
