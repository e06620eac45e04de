-- Steps at the end of traces that come again, or no more. OFFSET 0 holds the planner to the primary key, as in `replaced.sql`.
DELETE FROM rm_steps
WHERE ctid = ANY (ARRAY(
    SELECT step.ctid
    FROM unnest($2::uuid[], $3::integer[]) AS cut (trace_id, keep)
    CROSS JOIN LATERAL (
        SELECT s.ctid FROM rm_steps AS s WHERE s.owner_id = $1 AND s.trace_id = cut.trace_id AND s.idx >= cut.keep OFFSET 0
    ) AS step
))
