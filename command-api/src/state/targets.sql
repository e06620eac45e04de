-- What annotations are about to stand on: the trace and, if one is named, its step. The step's content is needed only to look
-- for a quote in it. LIMIT keeps each look-up an index look-up of its own, whatever the planner thinks of the tables' sizes.
SELECT wanted.ordinality AS wanted, target.trace_id, target.subject_id, target.role, target.content
FROM unnest($2::uuid[], $3::uuid[], $4::boolean[])
    WITH ORDINALITY AS wanted (trace_id, step_id, with_content, ordinality)
CROSS JOIN LATERAL (
    SELECT trace.trace_id, trace.subject_id, step.role,
        CASE WHEN wanted.with_content THEN step.content ELSE '' END AS content
    FROM rm_traces AS trace
    LEFT JOIN rm_steps AS step
        ON step.owner_id = trace.owner_id AND step.trace_id = trace.trace_id AND step.step_id = wanted.step_id
    WHERE trace.owner_id = $1 AND trace.trace_id = wanted.trace_id
    LIMIT 1
) AS target
