-- The first steps of some traces, $3 of each, in the order of the traces given, as far as $5 rows and $6 bytes go; always at
-- least one, if there is one. Of the first trace only those from index $4 on. Sizes are known without reading what is stored out
-- of line.
SELECT c.ordinal, c.step_id AS id, c.idx AS "index", c.role, c.content, c.tool_name, c.tool_input, c.tool_call_id, c.metadata
FROM (
    SELECT b.*, row_number() OVER in_order AS nth, sum(b.bytes) OVER in_order AS bytes_so_far
    FROM (
        SELECT wanted.ordinal, s.*,
            octet_length(s.content)::bigint + coalesce(octet_length(s.tool_input), 0)
                + coalesce(octet_length(s.metadata), 0) AS bytes
        FROM unnest($2::uuid[], $3::integer[]) WITH ORDINALITY AS wanted (trace_id, count, ordinal)
        CROSS JOIN LATERAL (
            SELECT * FROM rm_steps AS s
            WHERE s.owner_id = $1 AND s.trace_id = wanted.trace_id
                AND s.idx >= CASE wanted.ordinal WHEN 1 THEN $4::integer ELSE 0 END AND s.idx < wanted.count
            ORDER BY s.idx
            LIMIT $5
        ) AS s
        ORDER BY wanted.ordinal, s.idx
        LIMIT $5
    ) AS b
    WINDOW in_order AS (ORDER BY b.ordinal, b.idx)
) AS c
WHERE c.nth = 1 OR c.bytes_so_far <= $6::bigint
ORDER BY c.ordinal, c.idx
