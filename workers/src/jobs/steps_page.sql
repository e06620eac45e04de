-- The next steps of a trace, at most $4 of them and few enough that their text stays within bounds: a step that alone is larger
-- comes alone.
SELECT idx, step_id, role, content, tool_name, tool_input
FROM (
    SELECT idx, step_id, role, content, tool_name, tool_input,
        sum(octet_length(content) + coalesce(octet_length(tool_input), 0)) OVER (ORDER BY idx)
            - octet_length(content) - coalesce(octet_length(tool_input), 0) AS before_it
    FROM (
        SELECT idx, step_id, role, content, tool_name, tool_input
        FROM rm_steps
        WHERE owner_id = $1 AND trace_id = $2 AND idx > $3
        ORDER BY idx
        LIMIT $4
    ) AS next
) AS sized
WHERE before_it < $5
ORDER BY idx
