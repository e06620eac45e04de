-- The beginning of a trace, of which no more is read than is shown. Arguments and metadata that are larger are left out.
SELECT s.role, left(s.content, $3) AS content, s.tool_name,
    CASE WHEN octet_length(s.tool_input) <= $3 THEN s.tool_input END AS tool_input, s.tool_call_id,
    CASE WHEN octet_length(s.metadata) <= $3 THEN s.metadata END AS metadata
FROM rm_steps AS s
WHERE s.owner_id = $1 AND s.trace_id = $2
ORDER BY s.idx
LIMIT $4
