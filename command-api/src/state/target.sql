-- What an annotation is about to stand on: the trace and, if one is named, its step. The step's content is needed only to look
-- for a quote in it.
SELECT trace.trace_id, trace.subject_id, step.role, CASE WHEN $4 THEN step.content ELSE '' END AS content
FROM rm_traces AS trace
LEFT JOIN rm_steps AS step
    ON step.owner_id = trace.owner_id AND step.trace_id = trace.trace_id AND step.step_id = $3
WHERE trace.owner_id = $1 AND trace.trace_id = $2
