-- Annotations on the trace and on the steps it still has, oldest first: $5 of them after those up to time $3 and id $4.
SELECT a.annotation_id AS id, a.trace_id, a.step_id, a.rating, a.comment, a.quote, a.label_error, a.label_error_note,
    a.author_id, a.author_name, a.source, a.created_at, a.updated_at, a.version
FROM rm_annotations AS a
WHERE a.owner_id = $1 AND a.trace_id = $2
    AND (a.step_id IS NULL OR EXISTS (
        SELECT FROM rm_steps AS s
        WHERE s.owner_id = a.owner_id AND s.step_id = a.step_id AND s.trace_id = a.trace_id
    ))
    AND (a.created_at, a.annotation_id) > ($3, $4)
ORDER BY a.created_at, a.annotation_id
LIMIT $5
