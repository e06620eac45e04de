-- Ratings of the selected traces and of their steps that still exist.
SELECT annotation.annotation_id, annotation.trace_id, annotation.step_id, annotation.author_id, annotation.rating,
    annotation.label_error, annotation.updated_at, annotation.source IS NOT NULL AND annotation.version = 0 AS imported
FROM rm_annotations AS annotation
JOIN rm_reward_model_traces AS selected
    ON selected.owner_id = annotation.owner_id AND selected.trace_id = annotation.trace_id
JOIN rm_traces AS trace ON trace.owner_id = annotation.owner_id AND trace.trace_id = annotation.trace_id
WHERE annotation.owner_id = $1 AND selected.reward_model_id = $2 AND annotation.rating IS NOT NULL
    AND (annotation.step_id IS NULL OR EXISTS (
        SELECT FROM rm_steps AS step
        WHERE step.owner_id = annotation.owner_id AND step.trace_id = annotation.trace_id
            AND step.step_id = annotation.step_id
    ))
ORDER BY annotation.annotation_id
