-- An annotation as a change sees it, with the step it stands on and the trace's content subject. One on a step that no longer
-- exists is not found, as in reads.
SELECT annotation.trace_id, annotation.step_id, annotation.rating, annotation.comment, annotation.quote, annotation.label_error,
    annotation.label_error_note, annotation.author_name, annotation.version, trace.subject_id, step.role, step.content
FROM rm_annotations AS annotation
JOIN rm_traces AS trace ON trace.owner_id = annotation.owner_id AND trace.trace_id = annotation.trace_id
LEFT JOIN rm_steps AS step
    ON step.owner_id = annotation.owner_id AND step.step_id = annotation.step_id AND step.trace_id = annotation.trace_id
WHERE annotation.owner_id = $1 AND annotation.annotation_id = $2 AND (annotation.step_id IS NULL OR step.step_id IS NOT NULL)
