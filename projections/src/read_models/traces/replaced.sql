-- Removes the steps and spans of traces that are about to be written anew. Most are new and have none: each is looked up by the
-- primary key, which OFFSET 0 holds the planner to. `trace_id = ANY ($2)` alone read all that the owner has. What was sent live of
-- them stays, but is not what is shown from here on.
WITH steps AS (
    DELETE FROM rm_steps
    WHERE ctid = ANY (ARRAY(
        SELECT step.ctid
        FROM unnest($2::uuid[]) AS replaced (trace_id)
        CROSS JOIN LATERAL (
            SELECT s.ctid FROM rm_steps AS s WHERE s.owner_id = $1 AND s.trace_id = replaced.trace_id OFFSET 0
        ) AS step
    ))
), sent AS (
    UPDATE rm_otel_traces SET stands = false
    WHERE ctid = ANY (ARRAY(
        SELECT sent.ctid
        FROM unnest($2::uuid[]) AS replaced (trace_id)
        CROSS JOIN LATERAL (
            SELECT t.ctid FROM rm_otel_traces AS t
            WHERE t.owner_id = $1 AND t.trace_id = replaced.trace_id AND t.stands
            OFFSET 0
        ) AS sent
    ))
)
DELETE FROM rm_spans
WHERE ctid = ANY (ARRAY(
    SELECT span.ctid
    FROM unnest($2::uuid[]) AS replaced (trace_id)
    CROSS JOIN LATERAL (
        SELECT s.ctid FROM rm_spans AS s WHERE s.owner_id = $1 AND s.trace_id = replaced.trace_id OFFSET 0
    ) AS span
))
