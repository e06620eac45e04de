-- Spans of a trace from index $3 on, as far as $4 rows and $5 bytes go; always at least one, if there is one.
SELECT c.idx, c.span_id AS id, c.parent_id, c.name, c.kind, c.start_ns::text AS start_ns, c.end_ns::text AS end_ns, c.input,
    c.output, c.step_indices
FROM (
    SELECT b.*, row_number() OVER in_order AS nth,
        sum(octet_length(b.name)::bigint + coalesce(octet_length(b.input), 0) + coalesce(octet_length(b.output), 0))
            OVER in_order AS bytes_so_far
    FROM (
        SELECT * FROM rm_spans AS s
        WHERE s.owner_id = $1 AND s.trace_id = $2 AND s.idx >= $3::integer
        ORDER BY s.idx
        LIMIT $4
    ) AS b
    WINDOW in_order AS (ORDER BY b.idx)
) AS c
WHERE c.nth = 1 OR c.bytes_so_far <= $5::bigint
ORDER BY c.idx
