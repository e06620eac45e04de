-- Spans of a trace behind the one at ($3, $4, $5, $6), as far as $7 rows and $8 bytes go; always at least one, if there is one. Those
-- of an import have numbers of their own, those that were sent live all have 0 and come by time. Where `said_bytes` is set, input and
-- output are to be made of what was sent, which stands in the frame that is named beside it.
SELECT c.idx, c.span_id AS id, c.parent_id, c.name, c.kind, c.start_ns::text AS start_ns, c.end_ns::text AS end_ns, c.input,
    c.output, c.step_indices, c.said_bytes, o.subject_id, o.frame, o.place
FROM (
    SELECT b.*, row_number() OVER in_order AS nth,
        sum(octet_length(b.name)::bigint + coalesce(octet_length(b.input), 0) + coalesce(octet_length(b.output), 0)
            + coalesce(b.said_bytes, 0)) OVER in_order AS bytes_so_far
    FROM (
        SELECT * FROM rm_spans AS s
        WHERE s.owner_id = $1 AND s.trace_id = $2 AND s.idx >= $3::integer
            AND (s.idx, s.start_ns, s.end_ns, s.span_id) > ($3::integer, $4::numeric, $5::numeric, $6::text)
        ORDER BY s.idx, s.start_ns, s.end_ns, s.span_id
        LIMIT $7
    ) AS b
    WINDOW in_order AS (ORDER BY b.idx, b.start_ns, b.end_ns, b.span_id)
) AS c
LEFT JOIN rm_otel_spans AS o
    ON o.owner_id = $1 AND o.trace_id = $2 AND o.record = 0
    AND o.span_id = CASE WHEN c.said_bytes IS NOT NULL THEN decode(c.span_id, 'hex') END
WHERE c.nth = 1 OR c.bytes_so_far <= $8::bigint
ORDER BY c.idx, c.start_ns, c.end_ns, c.span_id
