-- Comments on a trace and its steps that can be read, oldest first.
SELECT annotation_id, step_id, comment, label_error, source
FROM rm_annotations
WHERE owner_id = $1 AND trace_id = $2 AND comment IS NOT NULL AND NOT redacted
ORDER BY created_at, annotation_id
